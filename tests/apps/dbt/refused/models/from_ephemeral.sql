select * from rayden({{ ref('passing') }}, k := 5, qids := ['age', 'sex'], sensitive := 'occupation')
