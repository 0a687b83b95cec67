-- The classes of a VP-tree under Gower distance, as an additional column: the first step of RAYDEN.
--
-- As in every release: tbl, k, quasi, seed, hierarchy.
-- vantage: how to choose the vantage point: 'random', 'max_spread' or 'farthest'.
-- cut: where to cut: 'balanced', 'median' or 'aligned'.
-- tries: number of vantage points tried for a median cut.
-- Returns: the columns of the source, identifiers included, and class_id INTEGER. The result is not
--   a release.
-- Errors: no quasi-identifier, k above the number of rows, a column called class_id.
-- Example: SELECT class_id, count(*) FROM vp_partition('people', k := 2, quasi := ['age', 'city']) GROUP BY class_id;
CREATE OR REPLACE MACRO vp_partition(
    tbl, k := 5, quasi := NULL, vantage := 'random', cut := 'balanced', tries := 8, seed := 42,
    hierarchy := NULL
) AS TABLE
WITH __anon_found AS MATERIALIZED (
    SELECT __anon_rows, __anon_release_class_ids(
        __anon_buffer, __anon_row_numbers(__anon_rows), __anon_path_rows) AS __anon_result
    FROM __anon_table(
        'vp_partition', tbl, k, __anon_step(tbl, system.main.struct_pack(
            quasi := quasi)), system.main.struct_pack(
                vantage := vantage, cut := cut, tries := tries, seed := seed),
        hierarchy, 'all')
)
SELECT unnest(__anon_kept), * EXCLUDE (__anon_kept)
FROM (
    SELECT unnest(__anon_kept_of(__anon_rows)) AS __anon_kept, unnest(__anon_result) AS class_id
    FROM __anon_found);
