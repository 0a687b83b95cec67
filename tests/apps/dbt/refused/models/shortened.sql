select * from {{ ref('adult_released') }} offset 4
