-- The classes of Mondrian as an additional column: the first step of mondrian_cof.
--
-- As in every release: tbl, k, quasi, hierarchy.
-- partitioning: 'strict' keeps equal values together; 'relaxed' makes classes of k to 2k - 1 rows.
-- columns: 'any' tries the next widest column if the widest cannot be cut; 'widest' does not.
-- Returns: the columns of the source, identifiers included, and class_id INTEGER. The result is not
--   a release.
-- Errors: no quasi-identifier, k above the number of rows, a column called class_id.
-- Example: SELECT class_id, count(*) FROM mondrian_partition('people', k := 2, quasi := ['age', 'city']) GROUP BY class_id;
CREATE OR REPLACE MACRO mondrian_partition(
    tbl, k := 5, quasi := NULL, partitioning := 'strict', columns := 'any', hierarchy := NULL
) AS TABLE
WITH __anon_found AS MATERIALIZED (
    SELECT __anon_rows, __anon_release_class_ids(
        __anon_buffer, __anon_row_numbers(__anon_rows), __anon_path_rows) AS __anon_result
    FROM __anon_table(
        'mondrian_partition', tbl, k, __anon_step(tbl, system.main.struct_pack(
            quasi := quasi)), system.main.struct_pack(
                partitioning := partitioning, columns := columns),
        hierarchy, 'all')
)
SELECT unnest(__anon_kept), * EXCLUDE (__anon_kept)
FROM (
    SELECT unnest(__anon_kept_of(__anon_rows)) AS __anon_kept, unnest(__anon_result) AS class_id
    FROM __anon_found);
