{#
  Fails with the properties of audit with series that do not hold.
  raw: the table that was released. k: persons of a class. Others as in audit.
#}
{% test in_series(model, raw, k, entity, quasi=none, sensitive=none, keep=none, hierarchy=none, key='env:ANON_KEY') %}
{{ config(store_failures=true) }}
select property, required, found, meaning
from audit({{ anon_sql.name(raw) }}, {{ anon_sql.name(model) }}, {{ k }},
    series := {{ anon_sql.name(anon_sql.series(model)) }}, entity := {{ anon_sql.text(entity) }},
    quasi := {{ anon_sql.text(quasi) }}, sensitive := {{ anon_sql.text(sensitive) }},
    keep := {{ anon_sql.text(keep) }}, hierarchy := {{ anon_sql.name(hierarchy) }},
    key := {{ anon_sql.text(key) }})
where passed is false
{% endtest %}
