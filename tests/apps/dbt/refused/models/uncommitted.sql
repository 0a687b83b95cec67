{{ config(pre_hook="comment on column {{ ref('recent') }}.sex is 'anon:quasi'") }}
select * from rayden({{ ref('recent') }}, k := 10)
