select * from {{ anon_sql.new_persons(ref('adult'), entity='person_id', k=10, l=3,
    sensitive='occupation') }}
