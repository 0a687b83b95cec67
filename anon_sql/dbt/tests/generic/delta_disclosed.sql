{#
  Fails with the largest |ln(share in a class / share in raw)| of a sensitive value where it is above
  delta. raw: the table that was released. sensitive: a name or a list, besides those declared on
  raw. quasi, hierarchy: as k_anonymous.
#}
{% test delta_disclosed(model, raw, delta, sensitive=none, quasi=none, hierarchy=none) %}
{{ config(store_failures=true) }}
with anon_tested as (select * from {{ model }})
select *
from (
    select delta_disclosure(
        {{ anon_sql.name(raw) }}, 'anon_tested', sensitive := {{ anon_sql.text(sensitive) }},
        quasi := {{ anon_sql.text(quasi) }}, hierarchy := {{ anon_sql.name(hierarchy) }}) as delta)
where delta > {{ delta }} + 1e-9
{% endtest %}
