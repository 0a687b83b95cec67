-- Return one struct with the SQL type of each column of a relation, without reading its rows.
--
-- k is evaluated in a scope with the columns of the relation: `k = 7`, written instead of `k := 7`,
-- is then a BOOLEAN if the relation has a column k, which the core refuses with a clear error.
CREATE OR REPLACE MACRO __anon_schema(__anon_tbl, __anon_k) AS TABLE
SELECT
    system.main.struct_pack(*COLUMNS(lambda __anon_c: __anon_c <> '__anon_k_given'))
        AS __anon_types,
    __anon_k_given
FROM (
    SELECT system.main.typeof(COLUMNS(*)), __anon_k AS __anon_k_given
    FROM (
        (FROM (SELECT *, 0 AS __anon_zero FROM query_table(__anon_tbl)) LIMIT 0)
        UNION ALL BY NAME
        (SELECT 0 AS __anon_zero)));
