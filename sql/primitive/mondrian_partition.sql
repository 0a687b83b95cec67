-- The classes of Mondrian as an additional column: the first step of mondrian_cof.
--
-- tbl: name of the relation. k: smallest size of an equivalence class, in rows. qids: column names;
--   NULL means as declared in comments.
-- partitioning: 'strict' keeps equal values together, 'relaxed' makes classes of k to 2k - 1 rows.
-- columns: 'any' tries the next column if the widest has no cut, 'widest' does not.
-- hierarchy: name of a relation with attribute, value, level and label; NULL for none.
-- Returns: the columns of the source, identifiers included, and class_id INTEGER. The result is not
--   a release.
-- Errors: no quasi-identifier, k above the number of rows, a column called class_id.
-- Example: SELECT class_id, count(*) FROM mondrian_partition('people', k := 2, qids := ['age', 'city']) GROUP BY class_id;
CREATE OR REPLACE MACRO mondrian_partition(
    tbl, k := 5, qids := NULL, partitioning := 'strict', columns := 'any',
    hierarchy := NULL
) AS TABLE
WITH __anon_found AS MATERIALIZED (
    SELECT __anon_rows, __anon_release_class_ids(
        __anon_intake, __anon_taken_of(__anon_rows), __anon_path_rows) AS __anon_result
    FROM __anon_table(
        'mondrian_partition', tbl, k, __anon_step(tbl, qids, NULL), system.main.struct_pack(
            seed := 42, partitioning := partitioning, columns := columns),
        hierarchy, 'all')
)
SELECT unnest(__anon_kept), * EXCLUDE (__anon_kept)
FROM (
    SELECT unnest(__anon_kept_of(__anon_rows)) AS __anon_kept, unnest(__anon_result) AS class_id
    FROM __anon_found);
