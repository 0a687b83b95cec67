{# A number as SQL; NULL for none. #}
{% macro number(value) %}
  {{ return('NULL' if value is none else value) }}
{% endmacro %}
