{#
  The rows of persons whom no release in the ledger holds, as a table function for FROM.
  relation: the raw table. entity: its column that identifies persons. key: as in ledger_new.
#}
{% macro new_persons(relation, entity, key='env:ANON_KEY') %}
  ledger_new({{ anon_sql.name(relation) }}, {{ anon_sql.name(anon_sql.ledger()) }},
    entity := {{ anon_sql.text(entity) }}, key := {{ anon_sql.text(key) }})
{%- endmacro %}
