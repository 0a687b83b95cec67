{#
  Fails with the largest |ln(share in a class / share in raw)| of a sensitive value where it is above
  delta. raw: the table that was released. sensitive: a name or a list, besides those declared on
  raw. qids, hierarchy: as k_anonymous.
#}
{% test delta_disclosed(model, raw, delta, sensitive=none, qids=none, hierarchy=none) %}
{{ config(store_failures=true) }}
with anon_tested as (select * from {{ model }})
select *
from (
    select delta_disclosure(
        {{ anon_sql.name(raw) }}, 'anon_tested', sensitive := {{ anon_sql.text(sensitive) }},
        qids := {{ anon_sql.text(qids) }}, hierarchy := {{ anon_sql.name(hierarchy) }}) as delta)
where delta > {{ delta }} + 1e-9
{% endtest %}
