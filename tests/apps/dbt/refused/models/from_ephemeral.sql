select * from rayden({{ ref('passing') }}, k := 5, quasi := ['age', 'sex'], sensitive := 'occupation')
