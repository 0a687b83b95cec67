{# A value as SQL: text, a list of texts, or NULL for none. #}
{% macro text(value) %}
  {%- if value is none -%}
    {{ return('NULL') }}
  {%- elif value is sequence and value is not string and value is not mapping -%}
    {%- set items = [] -%}
    {%- for item in value -%}{%- do items.append(anon_sql.text(item)) -%}{%- endfor -%}
    {{ return('[' ~ items | join(', ') ~ ']') }}
  {%- endif -%}
  {{ return("'" ~ value | string | replace("'", "''") ~ "'") }}
{% endmacro %}
