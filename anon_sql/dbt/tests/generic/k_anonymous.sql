{#
  Fails with the classes of fewer than k rows; a row without labels stands for the rows left out.
  Fails with the properties k and people of audit, too: classes of fewer than k people.
  raw: the table that was released. k: in people, or in rows with unit='row' or incremental.
  entity: the column that the release was made with, which identifies a person. quasi: NULL means as declared on raw.
  hierarchy: the one that the release was made with.
  incremental: whether runs have appended releases; the classes of the whole table are counted, and
  the raw table says only which columns are quasi-identifiers.
#}
{% test k_anonymous(model, raw, k, quasi=none, hierarchy=none, incremental=false, entity=none,
    unit='person') %}
{{ config(store_failures=true) }}
{%- if incremental -%}
{{ anon_sql.small_classes(model, anon_sql.columns_of_role(raw, 'quasi', quasi=quasi), ['count(*)'], k) }}
{%- else -%}
{%- set relations = anon_sql.name(raw) ~ ", 'anon_tested'" -%}
{%- set named = "quasi := " ~ anon_sql.text(quasi) ~ ", hierarchy := " ~ anon_sql.name(hierarchy) %}
with
anon_tested as (select * from {{ model }}),
anon_least as (select k_anonymity({{ relations }}, {{ named }}) as anon_k),
anon_small as (
    select anon_classes.*
    from equivalence_classes({{ relations }}, {{ named }}) as anon_classes, anon_least
    where size < {{ k }} and anon_k < {{ k }}
)
select * from anon_small
union all by name
select anon_k as size from anon_least
where anon_k < {{ k }} and not exists (from anon_small)
union all by name
select property, found as size, meaning
from audit({{ relations }}, {{ k }}, {{ named }}, entity := {{ anon_sql.text(entity) }},
    unit := {{ anon_sql.text(unit) }}), anon_least
where passed is false and (property = 'people' or (property = 'k' and anon_k >= {{ k }}))
{%- endif -%}
{% endtest %}
