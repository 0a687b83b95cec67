-- The connectivity-based outlier factor (COF) of each row within its class, and whether the row is
-- an outlier.
--
-- tbl: name of a relation with a column of class ids, for example from vp_partition.
-- k: number of neighbours. qids: column names; NULL means as declared in comments.
-- classes: the column of class ids; rows without a class id have no score.
-- alpha: a row is an outlier if its COF is above mean + alpha standard deviations of its class.
-- variant: definition of COF, 'rayden', 'tang' (the original) or 'pyod'.
-- hierarchy: name of a relation with attribute, value, level and label; NULL for none. Distance is
--   then 0 or 1 in its columns, also if they are numeric.
-- threshold: a row is an outlier if its COF is above this number, and alpha has no effect; NULL
--   for the rule of alpha.
-- Returns: the columns of the source, cof DOUBLE and outlier BOOLEAN. The result is not a release.
-- Errors: no quasi-identifier, no such column of classes, a column called cof or outlier.
-- Example: SELECT * FROM cof_score('classed', k := 2, qids := ['age', 'city']);
CREATE OR REPLACE MACRO cof_score(
    tbl, k := 5, qids := NULL, classes := 'class_id', alpha := 2.0, variant := 'rayden',
    hierarchy := NULL, threshold := NULL
) AS TABLE
WITH __anon_found AS MATERIALIZED (
    SELECT __anon_rows, __anon_release_cof(
        __anon_intake, __anon_taken_of(__anon_rows), __anon_path_rows) AS __anon_result
    FROM __anon_table(
        'cof_score', tbl, k, __anon_step(tbl, qids, classes), system.main.struct_pack(
            seed := 0, alpha := alpha, variant := variant, threshold := threshold),
        hierarchy, 'all')
)
SELECT unnest(__anon_kept), * EXCLUDE (__anon_kept)
FROM (
    SELECT
        unnest(__anon_kept_of(__anon_rows)) AS __anon_kept, unnest(__anon_result.cof) AS cof,
        unnest(__anon_result.outlier) AS outlier
    FROM __anon_found);
