{{ config(materialized='incremental', full_refresh=false, post_hook="{{ anon_sql.record_release(
    ref('adult_new'), entity='person_id', stated={'method': 'anonymize', 'k': 10, 'l': 3}) }}") }}
select * from anonymize({{ ref('adult_new') }}, k := 10, l := 3)
