{#
  Fails with the properties of linked_audit that do not hold. For the released table of persons.
  raw: the raw tables, that of persons first. released: the other released tables, which have the
  names of the raw ones and lie beside that of persons; the test waits for them.
  k: persons that must share a folded record. l: as in linked_plan.
  links: NULL means those that the tests relationships of the raw tables say.
#}
{% test linked_k_anonymous(model, raw, released, k, l=none, links=none, leave_out=none) %}
{{ config(store_failures=true) }}
{%- set tables = [raw] if raw is string or raw is not sequence else raw -%}
select property, required, found, example
from linked_audit({{ anon_sql.name(tables[0]) }}, {{ anon_sql.name(model) }}, k := {{ k }},
    l := {{ 'NULL' if l is none else l }},
    links := {{ anon_sql.links_of(tables) if links is none else anon_sql.text(links) }},
    leave_out := {{ anon_sql.text(leave_out) }})
where passed is false
{% endtest %}
