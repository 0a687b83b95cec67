{#
  Fails with the classes whose sensitive values are further than t from those of raw, one row an
  attribute. raw: the table that was released. sensitive: a name or a list, besides those declared
  on raw. qids, hierarchy: as k_anonymous.
#}
{% test t_close(model, raw, t, sensitive=none, qids=none, hierarchy=none) %}
{{ config(store_failures=true) }}
with anon_tested as (select * from {{ model }})
select * rename (__anon_size as size, __anon_name as attribute, __anon_t as t)
from __anon_distant_classes(
    't_close', {{ anon_sql.name(raw) }}, 'anon_tested', {{ anon_sql.text(sensitive) }},
    {{ anon_sql.text(qids) }}, {{ anon_sql.name(hierarchy) }})
where __anon_t > {{ t }}
{% endtest %}
