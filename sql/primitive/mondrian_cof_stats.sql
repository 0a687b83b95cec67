-- What M-COF finds on a table: how many outliers were detected, recovered and returned.
--
-- All arguments as in mondrian_cof: the same call gives the numbers of the same release.
-- Returns: one row: partitions, detected, recovered, returned, suppressed, orr (recovered share
--   of the detected, NULL if there are none), suppression_rate (0…1), classes.
-- Errors: as mondrian_cof.
-- Example: SELECT * FROM mondrian_cof_stats('people', k := 2, qids := ['age', 'city']);
CREATE OR REPLACE MACRO mondrian_cof_stats(
    tbl, k := 5, qids := NULL, sensitive := NULL, identifiers := NULL, keep := NULL,
    suppressed := 'keep', seed := 42,
    alpha := 2.0, partitioning := 'strict', repair := 'cap', unrecovered := 'return',
    distance := 'gower',
    hierarchy := NULL
) AS TABLE
WITH __anon_found AS MATERIALIZED (
    SELECT __anon_recovery_stats(
        __anon_plan, __anon_packed,
        {'alpha': alpha, 'partitioning': partitioning, 'repair': repair,
         'unrecovered': unrecovered, 'distance': distance}, __anon_trees)
        AS __anon_stats
    FROM __anon_work(
        'mondrian_cof', tbl, k, __anon_scope(tbl, qids, sensitive, identifiers, keep), suppressed,
        seed,
        {'alpha': alpha, 'partitioning': partitioning, 'repair': repair,
         'unrecovered': unrecovered, 'distance': distance},
        __anon_hierarchy := hierarchy)
)
SELECT unnest(__anon_stats) FROM __anon_found;
