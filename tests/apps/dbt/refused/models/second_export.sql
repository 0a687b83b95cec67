-- depends_on: {{ ref('adult_export') }}
{{ config(
    materialized='external', location='adult_second.parquet',
    post_hook="{{ anon_sql.write_manifest(ref('adult'), method='anonymize', k=5, l=2,
        previous='adult_released.parquet', previous_share=1) }}") }}
select * from anonymize({{ ref('adult') }}, k := 5, l := 2)
