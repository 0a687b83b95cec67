{{ config(materialized='incremental',
    post_hook="{{ anon_sql.record_release(ref('adult'), entity='person_id') }}") }}
select * from anonymize({{ ref('adult_new') }}, k := 10, l := 3)
