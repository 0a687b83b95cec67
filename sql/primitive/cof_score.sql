-- How far each row lies apart from the rows of its class: COF, and whether it is an outlier.
--
-- tbl: name of a relation with a column of class ids, as vp_partition makes it.
-- k: neighbours looked at. qids: column names; NULL means as declared in comments.
-- classes: the column of class ids; rows where it is NULL get no score.
-- alpha: outliers lie above mean + alpha standard deviations of their class's COF.
-- variant: 'rayden', 'tang' (the original) or 'pyod'.
-- hierarchy: name of a relation with attribute, value, level and label; NULL for none. Distance is
--   then 0 or 1 in its columns, numbers too.
-- Returns: the source's columns, cof DOUBLE and outlier BOOLEAN. It is no release.
-- Errors: no quasi-identifier, no such column of classes, a column called cof or outlier.
-- Example: SELECT * FROM cof_score('classed', k := 2, qids := ['age', 'city']);
CREATE OR REPLACE MACRO cof_score(
    tbl, k := 5, qids := NULL, classes := 'class_id', alpha := 2.0, variant := 'rayden',
    hierarchy := NULL
) AS TABLE
SELECT
    unnest(COLUMNS(* EXCLUDE (__anon_hash, __anon_plan, __anon_packed, __anon_trees, __anon_scored))),
    unnest(__anon_scored.cof) AS cof,
    unnest(__anon_scored.outlier) AS outlier
FROM (
    SELECT *, __anon_cof(
        __anon_plan, __anon_packed, {'alpha': alpha, 'variant': variant}, __anon_trees)
        AS __anon_scored
    FROM __anon_work(
        'cof_score', tbl, k, __anon_step(tbl, qids, classes), 'keep', 0,
        {'alpha': alpha, 'variant': variant}, __anon_hierarchy := hierarchy));
