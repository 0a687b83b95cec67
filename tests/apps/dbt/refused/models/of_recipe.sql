select 1::integer as age, 'x' as illness
