{% set tables = [ref('person'), ref('visit'), ref('diagnosis')] %}
select * from linked_plan(
    {{ ref('person') }}, k := 5, l := 2, links := {{ anon_sql.links_of(tables) }})
