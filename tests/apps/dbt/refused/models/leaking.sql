select person_id, 'n' as note, person_id::varchar as visitor from {{ ref('adult') }}
