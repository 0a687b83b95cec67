-- The distinct values of one column, as a list in a struct, for the functions that make its hierarchy.
CREATE OR REPLACE MACRO __anon_distinct(x) AS
    system.main.list(DISTINCT x ORDER BY x) FILTER (x IS NOT NULL);
CREATE OR REPLACE MACRO __anon_hierarchy_values(__anon_tbl, __anon_column) AS TABLE
WITH __anon_listed AS (
    SELECT __anon_distinct(COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
        OR __anon_fold(__anon_c) = __anon_fold(__anon_column)))
    FROM (SELECT *, 0::TINYINT AS __anon_zero FROM query_table(__anon_tbl))
)
SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_held FROM __anon_listed;
