{# Makes the ledger where there is none, for on-run-start. #}
{% macro make_ledger() %}
  {%- if execute -%}
  create schema if not exists {{ anon_sql.ledger().without_identifier() }};
  create table if not exists {{ anon_sql.ledger() }} as from __anon_ledger_columns()
  {%- endif -%}
{% endmacro %}
