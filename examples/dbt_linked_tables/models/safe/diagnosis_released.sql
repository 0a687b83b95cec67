{{ config(alias='diagnosis') }}
select * from linked_table('diagnosis', {{ ref('plan') }})
