select * from anonymize({{ ref('adult') }}, k := 10, l := 3, t := 0.6)
