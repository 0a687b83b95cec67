{{ config(materialized='view') }}
select * from {{ ref('adult_raw') }} where age < 65
