select
    *,
    l_diversity({{ ref('adult') }}, {{ ref('adult_released') }}) as l,
    t_closeness({{ ref('adult') }}, {{ ref('adult_released') }}) as t
from utility({{ ref('adult') }}, {{ ref('adult_released') }}, k := 10)
