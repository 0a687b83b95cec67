with recent as (select age, sex, occupation from {{ ref('adult') }} where age < 40)
select * from rayden(recent, k := 5, quasi := ['age', 'sex'], sensitive := 'occupation', alpha := 1.5)
