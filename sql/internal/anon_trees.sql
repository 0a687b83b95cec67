-- The rows of a hierarchy, column by column: a struct of lists, NULL for a column it does not
-- name. The relation itself is not read, only its columns' types; without a hierarchy nothing is.

-- A row as one column sees it. own: it is for that column; leaf: the value in the column's type,
-- NULL where it is none; shown: as it is printed; castable: the label could be read as a value.
-- TRY stands under no condition: DuckDB 1.5 then mixes up the rows.
CREATE OR REPLACE MACRO __anon_leaf_as(
    probe, __anon_own, __anon_value, __anon_level, __anon_label
) AS {
    'own': __anon_own,
    'leaf': try(cast_to_type(__anon_value, probe)),
    'shown': __anon_text(list_extract(list_value(try(cast_to_type(__anon_value, probe))), 1)),
    'value': __anon_value,
    'level': __anon_level,
    'label': __anon_label,
    'castable': try(cast_to_type(__anon_label, probe)) IS NOT NULL};
-- A type that no label stands for is refused elsewhere; casts to some are errors at once.
CREATE OR REPLACE MACRO __anon_leaf_by
    (probe, x, o, v, n, l) AS __anon_leaf_as(NULL::VARCHAR, o, v, n, l),
    (probe VARCHAR, x, o, v, n, l) AS __anon_leaf_as(NULL::VARCHAR, o, v, n, l),
    (probe BOOLEAN, x, o, v, n, l) AS __anon_leaf_as(__anon_type(x), o, v, n, l),
    (probe UUID, x, o, v, n, l) AS __anon_leaf_as(__anon_type(x), o, v, n, l),
    (probe DOUBLE, x, o, v, n, l) AS __anon_leaf_as(__anon_type(x), o, v, n, l),
    (probe TIME, x, o, v, n, l) AS __anon_leaf_as(__anon_type(x), o, v, n, l),
    (probe TIME_NS, x, o, v, n, l) AS __anon_leaf_as(__anon_type(x), o, v, n, l),
    (probe TIMESTAMP, x, o, v, n, l) AS __anon_leaf_as(__anon_type(x), o, v, n, l),
    (probe TIMESTAMPTZ, x, o, v, n, l) AS __anon_leaf_as(__anon_type(x), o, v, n, l);
CREATE OR REPLACE MACRO __anon_leaf(
    probe, __anon_name, __anon_attribute, __anon_value, __anon_level, __anon_label
) AS __anon_leaf_by(
    list_extract(list_value(probe), 1), probe,
    __anon_fold(__anon_attribute) = __anon_fold(__anon_name),
    __anon_value, __anon_level, __anon_label);
CREATE OR REPLACE MACRO __anon_leaf_list(x) AS list(x) FILTER (x.own);

-- columns: 'quasi' for those of the call and those that l and t protect, 'all' for every one.
CREATE OR REPLACE MACRO __anon_trees(
    __anon_tbl, __anon_call, __anon_hierarchy, __anon_columns := 'quasi'
) AS TABLE
WITH
__anon_no_hierarchy AS (
    SELECT '' AS attribute, '' AS value, 0 AS level, '' AS label LIMIT 0
),
__anon_paths AS (
    SELECT
        attribute::VARCHAR AS __anon_attribute, value::VARCHAR AS __anon_value,
        level::INTEGER AS __anon_level, label::VARCHAR AS __anon_label
    FROM query_table(coalesce(__anon_hierarchy, '__anon_no_hierarchy'))
    WHERE value IS NOT NULL AND label IS NOT NULL
),
__anon_probes AS (
    (SELECT COLUMNS(lambda __anon_c: CASE
        WHEN __anon_hierarchy IS NULL THEN __anon_c[:11] = '__anon_zero'
        ELSE __anon_c[:11] = '__anon_zero' OR __anon_columns = 'all'
            OR __anon_is('quasi', __anon_c, __anon_call)
            OR __anon_is('protected', __anon_c, __anon_call) END)
     FROM (SELECT *, 0 AS __anon_zero FROM query_table(__anon_tbl)) LIMIT 0)
    UNION ALL BY NAME
    (SELECT 0 AS __anon_zero)
),
__anon_leaves AS (
    SELECT __anon_leaf(
        COLUMNS(__anon_probes.*), alias(COLUMNS(__anon_probes.*)),
        __anon_attribute, __anon_value, __anon_level, __anon_label)
    FROM __anon_probes, __anon_paths
)
SELECT struct_pack(*COLUMNS(*)) AS __anon_trees
FROM (SELECT __anon_leaf_list(COLUMNS(*)) FROM __anon_leaves);
