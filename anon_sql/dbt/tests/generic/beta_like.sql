{#
  Fails with the largest relative gain of a sensitive share in a class where it is above beta.
  raw: the table that was released. sensitive: a name or a list, besides those declared on raw.
  quasi, hierarchy: as k_anonymous.
#}
{% test beta_like(model, raw, beta, sensitive=none, quasi=none, hierarchy=none) %}
{{ config(store_failures=true) }}
with anon_tested as (select * from {{ model }})
select *
from (
    select beta_likeness(
        {{ anon_sql.name(raw) }}, 'anon_tested', sensitive := {{ anon_sql.text(sensitive) }},
        quasi := {{ anon_sql.text(quasi) }}, hierarchy := {{ anon_sql.name(hierarchy) }}) as beta)
where beta > {{ beta }} + 1e-9
{% endtest %}
