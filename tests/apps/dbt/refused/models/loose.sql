select * from rayden({{ ref('adult') }}, k := 2)
