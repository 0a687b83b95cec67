{#
  Enters the release of a model in the ledger, for a post-hook inside the transaction. A run that
  would append persons whom the model has released before is refused, and so is one that would replace
  the model without all persons of an earlier run, which ledger_new never selects again.
  raw: the table that this run released. entity: its column that identifies persons.
  stated: the arguments of anon_manifest that the manifest shall state, such as {'k': 10}. The
  manifest of an incremental run states these alone, because the table holds earlier rows, too.
#}
{% macro record_release(raw, entity, stated={}, key='env:ANON_KEY') %}
  {%- if execute -%}
  {%- set whose = "entity := " ~ anon_sql.text(entity) ~ ", key := " ~ anon_sql.text(key) -%}
  {%- do anon_sql.require_released_here(raw) -%}
  {%- do anon_sql.require_nobody_lost(raw, whose) -%}
  {%- if is_incremental() -%}
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
