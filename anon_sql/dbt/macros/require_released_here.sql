{#
  Raises an error unless a model reads the table that it names as the one it releases, and has released
  rows of it if the table has any.
#}
{% macro require_released_here(raw) %}
  {%- set written = raw.render() if raw.render is defined else raw -%}
  {%- set quoted = "'" ~ (raw.identifier if raw.render is defined else raw) ~ "'" -%}
  {%- set code = model.compiled_code or '' -%}
  {%- if written not in code and quoted not in code -%}
    {{ exceptions.raise_compiler_error(
      "record_release: raw must be the table that " ~ model.name ~ " releases, got one that the model "
      ~ "does not read") }}
  {%- endif -%}
  {%- set empty = run_query(
    "select (select count(*) from " ~ written ~ ") > 0 and (select count(*) from " ~ this ~ ") = 0"
    ).rows[0][0] -%}
  {%- if empty -%}
    {{ exceptions.raise_compiler_error(
      "record_release: " ~ model.name ~ " must release rows of raw") }}
  {%- endif -%}
{% endmacro %}
