-- How unevenly the values of sensitive columns are spread (Majeed and Hwang 2025, equation 1): a
-- value's imbalance ratio is the rows of the most frequent value divided by its own. The result
-- holds sensitive values and their counts in the whole table: it is for whoever may see the table,
-- and is no release.
--
-- tbl: name of the relation. sensitive: a name or a list of names, besides those declared.
-- Returns: a row per sensitive column and value, the most frequent first: attribute, value (as
--   text), rows, ratio (1 or more; NULL for NULL, which is no value).
-- Errors: no sensitive column, one that the table lacks, an unknown tag.
-- Example: SELECT * FROM imbalance('people', 'illness');
CREATE OR REPLACE MACRO imbalance(tbl, sensitive := NULL) AS TABLE
WITH
__anon_asked AS MATERIALIZED (
    SELECT __anon_table_sensitive(
        'imbalance', __anon_types,
        __anon_call_of(tbl, NULL, sensitive, NULL, NULL, NULL, NULL, true), __anon_seen(tbl))
        AS __anon_names
    FROM __anon_schema(tbl, 0)
),
__anon_picked AS (
    SELECT COLUMNS(lambda __anon_c: __anon_c = '__anon_zero' OR __anon_measure_protects(
        __anon_c, __anon_call_of(tbl, NULL, sensitive, NULL, NULL, NULL, NULL, true)))
    FROM (SELECT *, '' AS __anon_zero FROM query_table(tbl))
),
__anon_texts AS (SELECT __anon_text(COLUMNS(*))::VARCHAR FROM __anon_picked),
__anon_pairs AS (
    SELECT __anon_named(alias(COLUMNS(__anon_texts.*)), COLUMNS(__anon_texts.*)) FROM __anon_texts
),
__anon_cells AS (SELECT unnest(list_value(*COLUMNS(*))) AS __anon_cell FROM __anon_pairs),
__anon_counts AS (
    SELECT __anon_cell.name AS __anon_name, __anon_cell.value AS __anon_value,
        count(*) AS __anon_rows
    FROM __anon_cells
    GROUP BY ALL
)
SELECT
    __anon_name AS attribute,
    __anon_value AS value,
    __anon_rows AS rows,
    CASE WHEN __anon_value IS NOT NULL THEN
        max(__anon_rows) FILTER (__anon_value IS NOT NULL) OVER (PARTITION BY __anon_name)
        / __anon_rows END AS ratio
FROM __anon_counts, __anon_asked
WHERE list_contains(__anon_names, __anon_name)
ORDER BY list_position(__anon_names, __anon_name), __anon_rows DESC, __anon_value NULLS LAST;
