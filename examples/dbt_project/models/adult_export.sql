{{ config(
    materialized='external', location='adult_released.parquet',
    post_hook="{{ anon_sql.write_manifest(ref('adult'), method='anonymize', k=10, l=3) }}") }}
select * from {{ ref('adult_released') }}
