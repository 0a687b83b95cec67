-- The faults of a table before it is anonymized, as in the second step of SDkA (Majeed and Hwang
-- 2025; the rules are this project's own). Faults are counted, nothing is repaired, and no value is
-- shown.
--
-- tbl: name of the relation.
-- identifiers: columns, in addition to those declared, that the search for duplicates ignores.
-- Returns: a row per column and fault that was found: column_name (NULL for whole rows), fault,
--   rows, share (of the table). fault is 'missing' (NULL), 'placeholder' (text for an unknown
--   value: blank, ?, -, ., NA, N/A, NaN, NULL), 'not finite' (NaN, infinity), 'outlier' (a number,
--   date or time more than 1.5 times the interquartile range below the first or above the third
--   quartile; none if that range is 0), 'spelling' (rows that do not have the most frequent
--   spelling of a text whose spellings differ in case or blanks) or 'duplicate' (rows that repeat
--   another one in all columns but identifiers). No row: no fault was found.
-- Errors: an unknown tag, two roles for one column, an identifier that the table lacks.
-- Example: SELECT count(*) AS faults FROM data_quality('people');
CREATE OR REPLACE MACRO data_quality(tbl, identifiers := NULL) AS TABLE
WITH
__anon_source AS (SELECT *, 0::TINYINT AS __anon_zero FROM query_table(tbl)),
__anon_listed AS (SELECT __anon_profile(COLUMNS(*)) FROM __anon_source),
__anon_profiled AS (
    SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_profiles FROM __anon_listed
),
__anon_alike AS (
    SELECT
        COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR __anon_binding_is_role('released', __anon_c, __anon_scope(
                tbl, system.main.struct_pack(identifiers := identifiers)))),
        system.main.count(*) AS __anon_many
    FROM __anon_source
    GROUP BY ALL
),
__anon_counted AS (
    SELECT
        coalesce(system.main.sum(__anon_many), 0)::BIGINT AS __anon_rows,
        system.main.count(*) AS __anon_distinct
    FROM __anon_alike
)
SELECT unnest(__anon_pair_faults(
    __anon_types, __anon_scope(
        tbl, system.main.struct_pack(identifiers := identifiers)), __anon_seen(tbl),
    __anon_profiles, __anon_rows, __anon_distinct, system.main.current_connection_id()),
    recursive := true)
FROM __anon_types(tbl), __anon_profiled, __anon_counted;
