{{ config(alias='person') }}
select * from linked_table('person', {{ ref('plan') }})
