-- The classes of Mondrian as one more column: the first step of mondrian_cof.
--
-- tbl: name of the relation. k: smallest class, in rows. qids: column names; NULL means as
--   declared in comments.
-- partitioning: 'strict' keeps equal values together, 'relaxed' makes classes of k to 2k - 1 rows.
-- columns: 'any' tries the next column where the widest has no cut, 'widest' does not.
-- hierarchy: name of a relation with attribute, value, level and label; NULL for none.
-- Returns: the source's columns, identifiers too, and class_id INTEGER. It is no release.
-- Errors: no quasi-identifier, k above the number of rows, a column called class_id.
-- Example: SELECT class_id, count(*) FROM mondrian_partition('people', k := 2, qids := ['age', 'city']) GROUP BY class_id;
CREATE OR REPLACE MACRO mondrian_partition(
    tbl, k := 5, qids := NULL, partitioning := 'strict', columns := 'any',
    hierarchy := NULL
) AS TABLE
SELECT
    unnest(COLUMNS(* EXCLUDE (__anon_hash, __anon_plan, __anon_packed, __anon_trees, __anon_ids))),
    unnest(__anon_ids) AS class_id
FROM (
    SELECT *, __anon_class_ids(
        __anon_plan, __anon_packed,
        {'partitioning': partitioning, 'columns': columns}, __anon_trees) AS __anon_ids
    FROM __anon_work(
        'mondrian_partition', tbl, k, __anon_step(tbl, qids, NULL), 'keep', 42,
        {'partitioning': partitioning, 'columns': columns}, __anon_hierarchy := hierarchy));
