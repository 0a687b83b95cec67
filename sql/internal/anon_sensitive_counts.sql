-- Sensitive values in the classes of a release, as rows: class, column, value, how often.
--
-- A value is a key: bytes that are equal where values are, and that sort as values do, whatever
-- the type. So columns of all types stand below each other. NULL is the empty key, before all.

-- __anon_none stands in where no column is sensitive, so that the check can say so. It is known by
-- its type, which no table has, and has no key.
CREATE OR REPLACE MACRO __anon_key(x) AS CASE
    WHEN typeof(x) = 'STRUCT(__anon_none INTEGER)' THEN NULL
    WHEN x IS NULL THEN ''::BLOB
    ELSE create_sort_key(list_value(x), 'ASC NULLS FIRST')
END;
CREATE OR REPLACE MACRO __anon_key_list(x) AS
    list(__anon_key(x)) FILTER (typeof(x) <> 'STRUCT(__anon_none INTEGER)');

-- The rows of one relation, its sensitive columns in the types that hold both relations' values,
-- and whose they are.
CREATE OR REPLACE MACRO __anon_alike_persons(
    __anon_raw, __anon_released, __anon_call, __anon_entity
) AS TABLE
(SELECT
    COLUMNS(lambda __anon_c:
        __anon_measure_protects(__anon_c, __anon_call) OR __anon_c = '__anon_none'),
    row(*COLUMNS(lambda __anon_c: __anon_c = '__anon_zero' OR
        coalesce(__anon_fold(__anon_c) = __anon_fold(__anon_entity::VARCHAR), false)))
        AS __anon_person
 FROM (SELECT *, {'__anon_none': 0} AS __anon_none, 0 AS __anon_zero FROM query_table(__anon_raw)))
UNION ALL BY NAME
(SELECT COLUMNS(lambda __anon_c:
    __anon_measure_protects(__anon_c, __anon_call) OR __anon_c = '__anon_none')
 FROM (SELECT *, {'__anon_none': 0} AS __anon_none FROM query_table(__anon_released)) LIMIT 0);
CREATE OR REPLACE MACRO __anon_alike_raw(__anon_raw, __anon_released, __anon_call) AS TABLE
SELECT * EXCLUDE (__anon_person)
FROM __anon_alike_persons(__anon_raw, __anon_released, __anon_call, NULL);
CREATE OR REPLACE MACRO __anon_alike_released(__anon_raw, __anon_released, __anon_call) AS TABLE
(SELECT COLUMNS(lambda __anon_c:
    __anon_measure_protects(__anon_c, __anon_call) OR __anon_c = '__anon_none')
 FROM (SELECT *, {'__anon_none': 0} AS __anon_none FROM query_table(__anon_raw)) LIMIT 0)
UNION ALL BY NAME
(SELECT *, 0 AS __anon_zero, {'__anon_none': 0} AS __anon_none FROM query_table(__anon_released));

-- A row a class: its labels, its size, and of each sensitive column the keys in a list.
CREATE OR REPLACE MACRO __anon_sensitive_classes(__anon_raw, __anon_released, __anon_call) AS TABLE
SELECT *, row_number() OVER () AS __anon_class
FROM (
    SELECT
        COLUMNS(lambda __anon_c:
            __anon_is('quasi', __anon_c, __anon_call) OR __anon_c = '__anon_zero'),
        __anon_key_list(COLUMNS(lambda __anon_c: __anon_c = '__anon_none'
            OR __anon_measure_protects(__anon_c, __anon_call))) AS '__anon_key_\0',
        count(*) AS __anon_size
    FROM __anon_alike_released(__anon_raw, __anon_released, __anon_call)
    GROUP BY ALL
);

-- The labels alone, for the check. Takes the name of a CTE: the classes.
CREATE OR REPLACE MACRO __anon_classes_labels(__anon_numbered, __anon_call) AS TABLE
SELECT COLUMNS(lambda __anon_c: __anon_c IN ('__anon_zero', '__anon_size', '__anon_class')
    OR __anon_is('quasi', __anon_c, __anon_call))
FROM query_table(__anon_numbered);

CREATE OR REPLACE MACRO __anon_sensitive_counts(__anon_numbered) AS TABLE
WITH
__anon_keyed AS (
    SELECT
        __anon_class,
        unnest(COLUMNS(lambda __anon_c: __anon_c[:11] = '__anon_key_'))
    FROM query_table(__anon_numbered)
),
__anon_pairs AS (
    SELECT
        __anon_class,
        __anon_named(
            alias(COLUMNS(* EXCLUDE (__anon_class))), COLUMNS(* EXCLUDE (__anon_class)))
    FROM __anon_keyed
),
__anon_cells AS (
    SELECT
        __anon_class,
        unnest(list_value(*COLUMNS(* EXCLUDE (__anon_class)))) AS __anon_cell
    FROM __anon_pairs
)
SELECT
    __anon_class, __anon_cell.name[12:] AS __anon_name, __anon_cell.value AS __anon_value,
    (sum(count(*)) OVER (PARTITION BY __anon_class, __anon_cell.name))::BIGINT AS __anon_size,
    count(*) AS __anon_count
FROM __anon_cells
WHERE __anon_cell.value IS NOT NULL
GROUP BY __anon_class, __anon_cell.name, __anon_cell.value;

-- One row: the check of a whole call, what it asks of sensitive columns, and how many rows there
-- are. adds: whether the release may have more rows than the raw table.
CREATE OR REPLACE MACRO __anon_protected(
    __anon_function, __anon_raw, __anon_released, __anon_call, __anon_hierarchy,
    __anon_numbered, __anon_kind, __anon_level, __anon_adds := false
) AS TABLE
WITH
__anon_grown AS MATERIALIZED (FROM __anon_trees(__anon_raw, __anon_call, __anon_hierarchy)),
__anon_held AS MATERIALIZED (FROM __anon_measure_domain(__anon_raw, __anon_call)),
__anon_classed AS (FROM __anon_classes_labels(__anon_numbered, __anon_call)),
__anon_lost AS MATERIALIZED (
    FROM __anon_measure_losses('__anon_classed', '__anon_held', 'share', '__anon_grown')),
__anon_summed AS (FROM __anon_measure_sums('__anon_lost')),
__anon_checked AS MATERIALIZED (
    FROM __anon_measure_check(
        __anon_function, __anon_raw, __anon_released, 5, 'share', __anon_call,
        '__anon_held', '__anon_summed', __anon_adds))
SELECT
    __anon_measure_protected(
        __anon_function, __anon_call, __anon_plan, __anon_types, __anon_released_types,
        __anon_kind, __anon_level) AS __anon_protects,
    __anon_plan.quasi AS __anon_attributes,
    __anon_rows,
    __anon_shown
FROM __anon_checked, __anon_schema(__anon_raw, 0);
