{#
  Fails with the columns that are an identifier of raw or a copy of one under another name: a column
  that raw gives no role and that holds no value but the identifier's. No value is shown.
  raw: the table that was released. identifiers: besides those declared on raw.
#}
{% test no_identifiers(model, raw, identifiers=none) %}
{{ config(store_failures=true) }}
with
anon_roles_of as (
    select lower(column_name) as anon_name, column_name as identifier, role
    from anon_roles({{ anon_sql.name(raw) }}, identifiers := {{ anon_sql.text(identifiers) }})
),
anon_declared as (
    select if(
        count(role) > 0, true,
        error('no_identifiers: the raw table must have roles; declare them in schema.yml '
            'and add the post-hook anon_sql.declare_roles()')) as anon_any
    from anon_roles_of
),
anon_released as ({{ anon_sql.cells(model) }}),
anon_undeclared as (
    select distinct column_name, anon_value
    from anon_released left join anon_roles_of on lower(column_name) = anon_name
    where role is null and anon_value is not null
),
anon_identifying as (
    select distinct identifier, anon_value
    from ({{ anon_sql.cells(raw) }}) join anon_roles_of on lower(column_name) = anon_name
    where role = 'identifier'
),
anon_held as (
    select column_name, count(*) as anon_values from anon_undeclared group by column_name
)
select distinct column_name, identifier
from anon_released join anon_roles_of on lower(column_name) = anon_name, anon_declared
where role = 'identifier' and anon_any
union all
select column_name, identifier
from anon_undeclared join anon_identifying using (anon_value) join anon_held using (column_name)
group by column_name, identifier, anon_values
having count(*) = anon_values
{% endtest %}
