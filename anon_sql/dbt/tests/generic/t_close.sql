{#
  Fails with the largest distance of a class from raw where it is above t. raw: the table that was released. sensitive: a name or a list, besides those declared
  on raw. quasi, hierarchy: as k_anonymous.
#}
{% test t_close(model, raw, t, sensitive=none, quasi=none, hierarchy=none) %}
{{ config(store_failures=true) }}
with anon_tested as (select * from {{ model }})
select *
from (
    select t_closeness(
        {{ anon_sql.name(raw) }}, 'anon_tested', sensitive := {{ anon_sql.text(sensitive) }},
        quasi := {{ anon_sql.text(quasi) }}, hierarchy := {{ anon_sql.name(hierarchy) }}) as t)
where t > {{ t }}
{% endtest %}
