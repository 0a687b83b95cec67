-- The distinct values of one column, as they are and printed, for the functions that make its hierarchy.
CREATE OR REPLACE MACRO __anon_hierarchy_values(
    __anon_function, __anon_tbl, __anon_column
) AS TABLE
WITH
__anon_picked AS (
    SELECT struct_pack(*COLUMNS(lambda __anon_c:
        __anon_fold(__anon_c) = __anon_fold(__anon_column) OR __anon_c = '__anon_zero'))
        AS __anon_cell
    FROM (SELECT *, 0 AS __anon_zero FROM query_table(__anon_tbl))
),
__anon_named AS (
    SELECT
        CASE WHEN __anon_require_column(__anon_function, __anon_types, __anon_column)
            THEN __anon_column END AS __anon_attribute
    FROM __anon_schema(__anon_tbl, 0)
),
__anon_distinct AS (
    SELECT DISTINCT struct_extract_at(__anon_cell, 1) AS __anon_value FROM __anon_picked
)
SELECT __anon_attribute, __anon_value, __anon_text(__anon_value) AS __anon_printed
FROM __anon_named, __anon_distinct
WHERE __anon_value IS NOT NULL AND __anon_attribute IS NOT NULL;

-- One row a value and level, the root last; a label that is NULL is left out.
CREATE OR REPLACE MACRO __anon_hierarchy_rows(__anon_labelled) AS TABLE
SELECT __anon_attribute AS attribute, __anon_printed AS value,
    unnest(range(1, len(__anon_path) + 1))::INTEGER AS level, unnest(__anon_path) AS label
FROM (
    SELECT __anon_attribute, __anon_printed,
        list_append(list_filter(__anon_labels, lambda __anon_x: __anon_x IS NOT NULL), '*')
            AS __anon_path
    FROM query_table(__anon_labelled)
);
