select * from anonymize(
    {{ ref('adult') }}, k := 5, l := 2, transparent := true, key := 'env:ANON_KEY')
