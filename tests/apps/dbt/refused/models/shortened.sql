-- without 3 rows of the largest class
select * exclude (class_rows)
from (
    select *, count(*) over (partition by age, education_num, marital_status, sex) as class_rows
    from {{ ref('adult_released') }}
)
order by class_rows desc, age, education_num, marital_status, sex
offset 3
