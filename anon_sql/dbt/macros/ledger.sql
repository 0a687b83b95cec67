{# The ledger of a project: the relation that the variable anon_ledger names, anon_ledger by default. #}
{% macro ledger() %}
  {{ return(api.Relation.create(
    database=target.database, schema=target.schema, identifier=var('anon_ledger', 'anon_ledger'))) }}
{% endmacro %}
