{{ config(alias='visit') }}
select * from linked_table('visit', {{ ref('plan') }})
