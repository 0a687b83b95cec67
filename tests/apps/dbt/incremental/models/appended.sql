{{ config(materialized='incremental') }}
select * from anonymize({{ ref('adult') }}, k := 10, l := 3)
