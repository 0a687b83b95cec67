{#
  The rows of persons whom no release in the ledger holds, as a table function for FROM.
  relation: the raw table. entity: its column that identifies persons. key: as in ledger_new.
  k, l: while fewer new persons than k, or new persons with fewer than l values, are there, all of
  them wait for the next run, and the log says how many. sensitive: columns that l counts; those
  declared in comments on the raw table need not be named.
#}
{% macro new_persons(relation, entity, key='env:ANON_KEY', k=none, l=none, sensitive=none) %}
  {%- set whose = "entity := " ~ anon_sql.text(entity) ~ ", key := " ~ anon_sql.text(key)
    ~ ", k := " ~ anon_sql.value(k) ~ ", l := " ~ anon_sql.value(l)
    ~ ", sensitive := " ~ anon_sql.text(sensitive) -%}
  {%- if k is not none or l is not none -%}{%- do anon_sql.say_waiting(relation, whose) -%}{%- endif -%}
  ledger_new({{ anon_sql.name(relation) }}, {{ anon_sql.name(anon_sql.ledger()) }}, {{ whose }})
{%- endmacro %}
