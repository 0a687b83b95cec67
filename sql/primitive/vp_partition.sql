-- The classes of a VP-tree under Gower distance, as one more column: the first step of RAYDEN.
--
-- tbl: name of the relation. k: smallest class, in rows. qids: column names; NULL means as
--   declared in comments.
-- vantage: 'random', 'max_spread' or 'farthest'. cut: 'balanced', 'median' or 'aligned'.
-- tries: vantage points tried before a median cut is given up. seed: all randomness.
-- hierarchy: name of a relation with attribute, value, level and label; NULL for none. Distance is
--   then 0 or 1 in its columns, numbers too.
-- Returns: the source's columns, identifiers too, and class_id INTEGER. It is no release.
-- Errors: no quasi-identifier, k above the number of rows, a column called class_id.
-- Example: SELECT class_id, count(*) FROM vp_partition('people', k := 2, qids := ['age', 'city']) GROUP BY class_id;
CREATE OR REPLACE MACRO vp_partition(
    tbl, k := 5, qids := NULL, vantage := 'random', cut := 'balanced', tries := 8, seed := 42,
    hierarchy := NULL
) AS TABLE
SELECT
    unnest(COLUMNS(* EXCLUDE (__anon_hash, __anon_plan, __anon_packed, __anon_trees, __anon_ids))),
    unnest(__anon_ids) AS class_id
FROM (
    SELECT *, __anon_class_ids(
        __anon_plan, __anon_packed, {'vantage': vantage, 'cut': cut, 'tries': tries}, __anon_trees)
        AS __anon_ids
    FROM __anon_work(
        'vp_partition', tbl, k, __anon_step(tbl, qids, NULL), 'keep', seed,
        {'vantage': vantage, 'cut': cut, 'tries': tries}, __anon_hierarchy := hierarchy));
