{{ config(materialized='incremental',
    post_hook="{{ anon_sql.record_release(ref('adult'), entity='person_id') }}") }}
-- depends_on: {{ ref('adult_new') }}
select * from anonymize({{ ref('adult') }}, k := 10, l := 3)
