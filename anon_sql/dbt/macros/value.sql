{# A value as SQL: a number, a truth value, a text, a list, a struct, or NULL for none. #}
{% macro value(value) %}
  {%- if value is none -%}
    {{ return('NULL') }}
  {%- elif value is boolean -%}
    {{ return('true' if value else 'false') }}
  {%- elif value is number -%}
    {{ return(value | string) }}
  {%- elif value is mapping -%}
    {%- set fields = [] -%}
    {%- for name, each in value.items() -%}
      {%- do fields.append(anon_sql.text(name) ~ ': ' ~ anon_sql.value(each)) -%}
    {%- endfor -%}
    {{ return('{' ~ fields | join(', ') ~ '}') }}
  {%- elif value is sequence and value is not string -%}
    {%- set items = [] -%}
    {%- for each in value -%}{%- do items.append(anon_sql.value(each)) -%}{%- endfor -%}
    {{ return('[' ~ items | join(', ') ~ ']') }}
  {%- endif -%}
  {{ return(anon_sql.text(value)) }}
{% endmacro %}
