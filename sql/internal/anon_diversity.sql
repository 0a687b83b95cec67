-- How varied the sensitive values of each class are, from the name of a CTE with their counts.
-- The empty key is NULL and does not count, but its class does.

CREATE OR REPLACE MACRO __anon_plain_diversity(__anon_counts) AS TABLE
SELECT
    __anon_class, __anon_name,
    count_if(__anon_value <> ''::BLOB)::DOUBLE AS __anon_l,
    coalesce(
        exp(ln(sum(__anon_count) FILTER (__anon_value <> ''::BLOB))
            - sum(__anon_count * ln(__anon_count)) FILTER (__anon_value <> ''::BLOB)
            / sum(__anon_count) FILTER (__anon_value <> ''::BLOB)), 0) AS __anon_exp_entropy
FROM query_table(__anon_counts)
GROUP BY __anon_class, __anon_name;

-- r_l + ... + r_v is a running sum from the rarest value on; where it is enough for one l, it is
-- for every lower one.
CREATE OR REPLACE MACRO __anon_recursive_diversity(__anon_counts, __anon_c) AS TABLE
SELECT
    __anon_class, __anon_name,
    count_if(__anon_value <> ''::BLOB
        AND __anon_most < try_cast(__anon_c AS DOUBLE) * __anon_tail)::DOUBLE
        AS __anon_l
FROM (
    SELECT
        __anon_class, __anon_name, __anon_value,
        sum(if(__anon_value = ''::BLOB, 0, __anon_count)) OVER (
            PARTITION BY __anon_class, __anon_name ORDER BY __anon_count, __anon_value
            ROWS UNBOUNDED PRECEDING) AS __anon_tail,
        max(if(__anon_value = ''::BLOB, 0, __anon_count)) OVER (
            PARTITION BY __anon_class, __anon_name) AS __anon_most
    FROM query_table(__anon_counts)
)
GROUP BY __anon_class, __anon_name;
