-- The connectivity-based outlier factor (COF) of each row within its class, and whether the row is
-- an outlier.
--
-- As in every release: tbl, quasi, hierarchy.
-- k: minimum number of rows in an equivalence class. Here it is also the number of neighbours.
-- classes: column of class ids; a row without one is in no class. Such a row has no score.
-- alpha: a row is an outlier if its COF exceeds the mean of its class by more than alpha standard
--   deviations.
-- variant: definition of COF: 'rayden', 'tang' (the original) or 'pyod'.
-- threshold: a row is an outlier if its COF exceeds this number; alpha then has no effect; NULL
--   means the limit that alpha sets.
-- Returns: the columns of the source, cof DOUBLE and outlier BOOLEAN. The result is not a release.
-- Errors: no quasi-identifier, no such column of classes, a column called cof or outlier.
-- Example: SELECT * FROM cof_score('classed', k := 2, quasi := ['age', 'city']);
CREATE OR REPLACE MACRO cof_score(
    tbl, k := 5, quasi := NULL, classes := 'class_id', alpha := 2.0, variant := 'rayden',
    hierarchy := NULL, threshold := NULL
) AS TABLE
WITH __anon_found AS MATERIALIZED (
    SELECT __anon_rows, __anon_release_cof(
        __anon_buffer, __anon_row_numbers(__anon_rows), __anon_path_rows) AS __anon_result
    FROM __anon_table(
        'cof_score', tbl, k, __anon_step(tbl, system.main.struct_pack(
            quasi := quasi, classes := classes)), system.main.struct_pack(
                alpha := alpha, variant := variant, threshold := threshold),
        hierarchy, 'all')
)
SELECT unnest(__anon_kept), * EXCLUDE (__anon_kept)
FROM (
    SELECT
        unnest(__anon_kept_of(__anon_rows)) AS __anon_kept, unnest(__anon_result.cof) AS cof,
        unnest(__anon_result.outlier) AS outlier
    FROM __anon_found);
