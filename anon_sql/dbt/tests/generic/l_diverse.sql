{#
  Fails with the least diversity of a class where it is below l.
  raw: the table that was released. sensitive: a name or a list, besides those declared on raw.
  kind: 'distinct', 'entropy' or 'recursive', the last with c. quasi, hierarchy: as k_anonymous.
  incremental: as k_anonymous, for kind 'distinct'; fails with the classes.
#}
{% test l_diverse(model, raw, l, sensitive=none, kind='distinct', c=3, quasi=none, hierarchy=none,
    incremental=false) %}
{{ config(store_failures=true) }}
{%- if incremental -%}
{%- if kind != 'distinct' -%}
  {{ exceptions.raise_compiler_error(
    "l_diverse: kind must be 'distinct' with incremental, got " ~ kind) }}
{%- endif -%}
{%- set counted = [] -%}
{%- for name in anon_sql.columns_of_role(raw, 'sensitive', quasi, sensitive) -%}
  {%- do counted.append('count(distinct ' ~ name ~ ')') -%}
{%- endfor -%}
{{ anon_sql.small_classes(model, anon_sql.columns_of_role(raw, 'quasi', quasi, sensitive), counted, l) }}
{%- else -%}
with anon_tested as (select * from {{ model }})
select *
from (
    select l_diversity(
        {{ anon_sql.name(raw) }}, 'anon_tested', sensitive := {{ anon_sql.text(sensitive) }},
        kind := {{ anon_sql.text(kind) }}, c := {{ c }}, quasi := {{ anon_sql.text(quasi) }},
        hierarchy := {{ anon_sql.name(hierarchy) }}) as l)
where l < {{ l }}
{%- endif -%}
{% endtest %}
