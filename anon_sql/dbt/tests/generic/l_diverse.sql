{#
  Fails with the classes whose sensitive values are less than l-diverse, one row an attribute.
  raw: the table that was released. sensitive: a name or a list, besides those declared on raw.
  kind: 'distinct', 'entropy' or 'recursive', the last with c. qids, hierarchy: as k_anonymous.
#}
{% test l_diverse(model, raw, l, sensitive=none, kind='distinct', c=3, qids=none, hierarchy=none) %}
{{ config(store_failures=true) }}
with anon_tested as (select * from {{ model }})
select * rename (__anon_size as size, __anon_name as attribute, __anon_l as l)
from __anon_diverse_classes(
    'l_diverse', {{ anon_sql.name(raw) }}, 'anon_tested', {{ anon_sql.text(sensitive) }},
    {{ anon_sql.text(kind) }}, {{ c }}, {{ anon_sql.text(qids) }}, {{ anon_sql.name(hierarchy) }})
where __anon_l < {{ l }}
{% endtest %}
