-- What RAYDEN finds on a table: how many outliers were detected, recovered and returned.
--
-- All arguments as in rayden: the same call gives the numbers of the same release.
-- Returns: one row: partitions, detected, recovered, returned, suppressed, orr (recovered share
--   of the detected, NULL if there are none), suppression_rate (0…1), classes.
-- Errors: as rayden.
-- Example: SELECT * FROM rayden_stats('people', k := 2, qids := ['age', 'city']);
CREATE OR REPLACE MACRO rayden_stats(
    tbl, k := 5, qids := NULL, sensitive := NULL, identifiers := NULL, keep := NULL,
    suppressed := 'keep', seed := 42,
    alpha := 2.0, vantage := 'random', cut := 'balanced', tries := 8,
    repair := 'cap', variant := 'rayden', unrecovered := 'return',
    hierarchy := NULL
) AS TABLE
WITH __anon_found AS MATERIALIZED (
    SELECT __anon_recovery_stats(
        __anon_plan, __anon_packed,
        {'alpha': alpha, 'vantage': vantage, 'cut': cut, 'tries': tries,
         'repair': repair, 'variant': variant, 'unrecovered': unrecovered}, __anon_trees)
        AS __anon_stats
    FROM __anon_work(
        'rayden', tbl, k, __anon_scope(tbl, qids, sensitive, identifiers, keep), suppressed, seed,
        {'alpha': alpha, 'vantage': vantage, 'cut': cut, 'tries': tries,
         'repair': repair, 'variant': variant, 'unrecovered': unrecovered},
        __anon_hierarchy := hierarchy)
)
SELECT unnest(__anon_stats) FROM __anon_found;
