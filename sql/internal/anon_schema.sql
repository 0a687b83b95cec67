-- The columns of a relation and their types, as one struct, without reading a row of it.
--
-- k is carried through a scope that holds the source's columns: `k = 7` on a table with a
-- column k arrives here as a BOOLEAN and is refused by name.
CREATE OR REPLACE MACRO __anon_schema(__anon_tbl, __anon_k) AS TABLE
SELECT
    struct_pack(*COLUMNS(lambda __anon_c: __anon_c <> '__anon_k_given')) AS __anon_types,
    any_value(__anon_k_given) AS __anon_k_given
FROM (
    SELECT typeof(COLUMNS(*)), __anon_k AS __anon_k_given
    FROM (
        (SELECT * FROM (SELECT *, 0 AS __anon_zero FROM query_table(__anon_tbl)) LIMIT 0)
        UNION ALL BY NAME
        (SELECT 0 AS __anon_zero)
    )
)
GROUP BY ALL;
