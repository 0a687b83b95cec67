-- What is wrong with a table before it is anonymized, which SDkA asks in its second step (Majeed and
-- Hwang 2025; the rules are ours). Faults are counted, nothing is repaired, and no value is shown.
--
-- tbl: name of the relation. identifiers: columns besides those declared that two rows need not
--   share to be duplicates.
-- Returns: a row per column and fault that was found: column_name (NULL for whole rows), fault,
--   rows, share (of the table). fault is 'missing' (NULL), 'placeholder' (text that says that
--   nothing is known: blank, ?, -, ., NA, N/A, NaN, NULL), 'not finite' (NaN, infinity), 'outlier'
--   (a number, date or time more than 1.5 times the interquartile range below the first or above
--   the third quartile; none where that range is 0), 'spelling' (rows that do not have the most
--   frequent spelling of a text, whose spellings differ in case or blanks) or 'duplicate' (rows
--   that repeat another one in all columns but identifiers). No row: none was found.
-- Errors: an unknown tag, two roles for one column, an identifier that the table lacks.
-- Example: SELECT count(*) AS faults FROM data_quality('people');
CREATE OR REPLACE MACRO data_quality(tbl, identifiers := NULL) AS TABLE
WITH
__anon_asked AS MATERIALIZED (
    SELECT __anon_table_columns(
        'data_quality', __anon_types, __anon_scope(tbl, NULL, NULL, identifiers, NULL),
        __anon_seen(tbl)) AS __anon_columns
    FROM __anon_schema(tbl, 0)
),
__anon_source AS (SELECT *, 0 AS __anon_zero FROM query_table(tbl)),
__anon_told AS (
    SELECT __anon_quality(alias(COLUMNS(__anon_source.*)), COLUMNS(__anon_source.*))
    FROM __anon_source
),
__anon_cells AS MATERIALIZED (
    SELECT unnest(list_value(*COLUMNS(*)), recursive := true) FROM __anon_told
),
__anon_fences AS (
    SELECT name, quantile_cont(number, [0.25, 0.75]) AS __anon_quartiles
    FROM __anon_cells GROUP BY name
),
__anon_single AS (
    SELECT
        name,
        count(*) FILTER (missing) AS __anon_missing,
        count(*) FILTER (list_contains(
            ['', '?', '-', '.', 'na', 'n/a', 'nan', 'null'], lower(trim(text))))
            AS __anon_placeholders,
        count(*) FILTER (infinite) AS __anon_infinite,
        count(*) FILTER (__anon_quartiles[1] < __anon_quartiles[2] AND (
            number < 2.5 * __anon_quartiles[1] - 1.5 * __anon_quartiles[2]
            OR number > 2.5 * __anon_quartiles[2] - 1.5 * __anon_quartiles[1]))
            AS __anon_outliers
    FROM __anon_cells JOIN __anon_fences USING (name)
    GROUP BY name
),
__anon_spelled AS (
    SELECT name, text, count(*) AS __anon_many
    FROM __anon_cells WHERE text IS NOT NULL GROUP BY name, text
),
__anon_spellings AS (
    SELECT name, sum(__anon_other) AS __anon_others
    FROM (
        SELECT name, sum(__anon_many) - max(__anon_many) AS __anon_other
        FROM __anon_spelled GROUP BY name, __anon_quality_folded(text))
    GROUP BY name
),
__anon_alike AS (
    SELECT
        COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR __anon_is('released', __anon_c, __anon_scope(tbl, NULL, NULL, identifiers, NULL))),
        count(*) AS __anon_many
    FROM __anon_source
    GROUP BY ALL
),
__anon_found AS (
    SELECT name, unnest([
        {'at': 1, 'fault': 'missing', 'rows': __anon_missing},
        {'at': 2, 'fault': 'placeholder', 'rows': __anon_placeholders},
        {'at': 3, 'fault': 'not finite', 'rows': __anon_infinite},
        {'at': 4, 'fault': 'outlier', 'rows': __anon_outliers}]) AS __anon_fault
    FROM __anon_single
    UNION ALL
    SELECT name, {'at': 5, 'fault': 'spelling', 'rows': __anon_others::BIGINT} FROM __anon_spellings
    UNION ALL
    SELECT NULL, {'at': 6, 'fault': 'duplicate', 'rows': sum(__anon_many - 1)::BIGINT}
    FROM __anon_alike, __anon_asked
    WHERE list_bool_or(list_transform(__anon_columns, lambda __anon_x: __anon_x.shared))
)
SELECT
    name AS column_name,
    __anon_fault.fault AS fault,
    __anon_fault.rows AS rows,
    __anon_fault.rows / (SELECT count(*) FROM __anon_source) AS share
FROM __anon_found, __anon_asked
WHERE __anon_fault.rows > 0 AND len(__anon_columns) > 0
ORDER BY
    list_position(list_transform(__anon_columns, lambda __anon_x: __anon_x.name), name) NULLS LAST,
    __anon_fault.at;
