{# The columns of a raw table that have a role, quoted. quasi, sensitive: as in functions. #}
{% macro columns_of_role(raw, role, quasi=none, sensitive=none) %}
  {%- set quoted = [] -%}
  {%- if execute -%}
    {%- set names = run_query("select column_name from anon_roles(" ~ anon_sql.name(raw)
      ~ ", quasi := " ~ anon_sql.text(quasi) ~ ", sensitive := " ~ anon_sql.text(sensitive)
      ~ ") where role = '" ~ role ~ "'").columns[0].values() -%}
    {%- for name in names -%}{%- do quoted.append(adapter.quote(name)) -%}{%- endfor -%}
    {%- if not quoted -%}
      {{ exceptions.raise_compiler_error(
        "columns_of_role: the raw table must have " ~ role ~ " columns; declare them in "
        ~ "schema.yml and add the post-hook anon_sql.declare_roles()") }}
    {%- endif -%}
  {%- endif -%}
  {{ return(quoted or ['true']) }}
{% endmacro %}
