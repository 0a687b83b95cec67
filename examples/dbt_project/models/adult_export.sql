{{ config(materialized='external', location='adult_released.parquet') }}
select * from {{ ref('adult_released') }}
