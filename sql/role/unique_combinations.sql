-- The smallest combinations of columns that single rows out, the most identifying first, as SUDA2
-- finds them (Elliot, Manning and Ford 2002; Manning, Haglin and Keane 2008): minimal sample
-- uniques. A set is counted for a row if no other row has its values in these columns, and no part
-- of the set singles the row out. NULL is a value.
--
-- tbl: name of the relation.
-- max_columns: maximum number of columns in a combination.
-- columns: columns to search; NULL means all except the declared identifiers.
-- Returns: a row per set: columns (VARCHAR[]), size, rows (of which the set is a minimal unique),
--   share (of all rows), score (share of the sum of all scores, 0…1). As in SUDA, a row scores
--   (n - s)(n - s - 1) … (n - m + 1) in a set of s columns, where n is the number of columns and m
--   is max_columns: one that few columns single out scores more. The sum of score over the sets that
--   contain a column tells how much the column contributes.
-- Errors: an unknown column, a max_columns below 1, too many sets, a table whose hashes do not fit
--   into memory; without columns, an unknown tag and two roles for one column.
-- Example: SELECT count(*) AS sets FROM unique_combinations('people', max_columns := 2);
CREATE OR REPLACE MACRO unique_combinations(tbl, max_columns := 3, columns := NULL) AS TABLE
WITH
__anon_marks AS (
    SELECT __anon_marked(COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
        OR __anon_audit_is_in(columns, __anon_c)))
    FROM
        (FROM query_table(tbl)),
        (SELECT __anon_fit AS __anon_zero FROM __anon_fits('unique_combinations', tbl))
    WHERE __anon_zero
),
__anon_packed AS (
    SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_marks_ FROM __anon_marks
)
SELECT system.main.unnest(__anon_audit_combined(
    __anon_types, __anon_k_given, columns, __anon_scope(tbl, system.main.struct_pack(quasi := NULL)),
    __anon_seen(tbl), __anon_marks_, system.main.current_connection_id()), max_depth := 2)
FROM __anon_schema(tbl, max_columns), __anon_packed;
