{#
  Enters the release of a model in the ledger, for a post-hook. An incremental run that would append
  persons whom the model has released before is refused.
  raw: the table that this run released. entity: its column that identifies persons.
  stated: the arguments of anon_manifest that the manifest shall state, such as {'k': 10}. The
  manifest of an incremental run states these alone, because the table holds earlier rows, too.
#}
{% macro record_release(raw, entity, stated={}, key='env:ANON_KEY') %}
  {%- if execute -%}
  {%- set ledger = anon_sql.name(anon_sql.ledger()) -%}
  {%- set whose = "entity := " ~ anon_sql.text(entity) ~ ", key := " ~ anon_sql.text(key) -%}
  {%- if is_incremental() -%}
    {%- set again = run_query(
      "select coalesce(sum(coalesce(shared, persons)), 0) from ledger_overlap(" ~ anon_sql.name(raw)
      ~ ", " ~ ledger ~ ", " ~ whose ~ ") where release = " ~ anon_sql.text(model.name)).rows[0][0] -%}
    {%- if again -%}
      {{ exceptions.raise_compiler_error(
        "record_release: an incremental run must append new persons only, got " ~ again
        ~ " whom " ~ model.name ~ " has released before; release anon_sql.new_persons, or the whole "
        ~ "table anew with --full-refresh") }}
    {%- endif -%}
    {%- set manifest = tojson({'manifest': 1, 'incremental': true, 'parameters': stated}) -%}
  {%- else -%}
    {%- set given = [] -%}
    {%- for name, value in stated.items() -%}
      {%- do given.append(", " ~ name ~ " := "
        ~ (value if value is number else anon_sql.text(value))) -%}
    {%- endfor -%}
    {%- set manifest = run_query(
      "select to_json(m)::varchar from anon_manifest(" ~ anon_sql.name(raw) ~ ", "
      ~ anon_sql.name(this) ~ ", entity := " ~ anon_sql.text(entity) ~ given | join ~ ") as m"
      ).rows[0][0] -%}
  {%- endif -%}
  insert into {{ anon_sql.ledger() }} from ledger_entry(
    {{ anon_sql.name(raw) }}, {{ anon_sql.name(this) }}, {{ anon_sql.text(model.name) }},
    manifest := {{ anon_sql.text(manifest) }}, {{ whose }})
  {%- endif -%}
{% endmacro %}
