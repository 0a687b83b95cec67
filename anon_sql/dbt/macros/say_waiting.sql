{#
  Logs how many new persons of a table wait, where the table and the ledger are there already.
  whose: the parameters of ledger_overlap, as SQL.
#}
{% macro say_waiting(relation, whose) %}
  {%- set there = relation.render is not defined or load_relation(relation) is not none -%}
  {%- if execute and there and load_relation(anon_sql.ledger()) is not none -%}
    {%- set waiting = run_query(
      "select coalesce(sum(persons), 0) from ledger_overlap(" ~ anon_sql.name(relation) ~ ", "
      ~ anon_sql.name(anon_sql.ledger()) ~ ", " ~ whose ~ ") where release is null").rows[0][0] -%}
    {%- if waiting -%}
      {{ log(model.name ~ ": " ~ waiting ~ (" new person waits" if waiting == 1 else " new persons wait")
        ~ " until there are more; none of them is released", info=true) }}
    {%- endif -%}
  {%- endif -%}
{% endmacro %}
