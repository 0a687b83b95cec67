select *, 1 as person_id from {{ ref('adult_released') }} limit 0
