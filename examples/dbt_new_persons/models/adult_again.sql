{{ config(pre_hook="{{ anon_sql.series_step(ref('adult'), entity='person_id', l=3) }}") }}
select * from anonymize({{ ref('adult') }}, k := 10, entity := 'person_id', series := {{ anon_sql.series() }})
