select * from {{ anon_sql.new_persons(ref('adult'), entity='person_id') }}
