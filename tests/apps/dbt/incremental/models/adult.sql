{{ config(materialized='view') }}
select * from {{ ref('adult_raw') }} where age < 65 and person_id < {{ var('below', 1300) }}
