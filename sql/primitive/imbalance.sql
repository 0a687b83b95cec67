-- The imbalance ratio of each value of the sensitive columns (Majeed and Hwang 2025, equation 1):
-- the rows of the most frequent value divided by those of the value. The result holds sensitive
-- values and their counts in the whole table; it is for people who may see the table, and is not a
-- release.
--
-- tbl: name of the relation.
-- sensitive: sensitive column or list of columns, in addition to those declared.
-- Returns: a row per sensitive column and value, the most frequent first: attribute, value (as
--   text), rows, ratio (1 or more; NULL for NULL, which is not a value).
-- Errors: no sensitive column, one that the table lacks, an unknown tag.
-- Example: SELECT * FROM imbalance('people', 'illness');
CREATE OR REPLACE MACRO imbalance(tbl, sensitive := NULL) AS TABLE
WITH
__anon_grouped AS (
    SELECT
        __anon_text(COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR __anon_binding_is_role(
                'sensitive', __anon_c, __anon_measure_call(tbl, NULL, sensitive))))::VARCHAR
            AS '__anon_text_\0',
        system.main.count(*) AS __anon_count
    FROM (SELECT *, 0::TINYINT AS __anon_zero FROM query_table(tbl))
    GROUP BY ALL
),
__anon_listed AS (SELECT system.main.list(COLUMNS(*)) FROM __anon_grouped),
__anon_packed AS (
    SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_groups FROM __anon_listed
)
SELECT unnest(__anon_row)
FROM (
    SELECT unnest(__anon_pair_value_ratios(
        'imbalance', __anon_types, __anon_measure_call(tbl, NULL, sensitive), __anon_seen(tbl),
        __anon_groups, system.main.current_connection_id())) AS __anon_row
    FROM __anon_types(tbl), __anon_packed);
