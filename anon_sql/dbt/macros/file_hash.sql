{# The SHA-256 of a file as SQL. #}
{% macro file_hash(file) %}
  {{ return("(select sha256(content) from read_blob(" ~ anon_sql.text(file) ~ "))") }}
{% endmacro %}
