-- A column for classification as a text that tells values, ranges and sets apart: labels as they
-- are, typed values as a range or as JSON.
CREATE OR REPLACE MACRO __anon_feature
    (x) AS CASE WHEN x IS NULL THEN '*' WHEN x.min IS NOT NULL
        THEN '[' || __anon_text(x.min) || ', ' || __anon_text(x.max) || ']' END,
    (x VARCHAR[]) AS CASE WHEN x IS NULL THEN '*' WHEN len(x) > 0 THEN to_json(x)::VARCHAR END,
    (x VARCHAR) AS x;

-- The quasi-identifiers and the target of a release, one list each.
CREATE OR REPLACE MACRO __anon_learned(__anon_released, __anon_target, __anon_call) AS TABLE
WITH
__anon_source AS (SELECT *, '' AS __anon_zero FROM query_table(__anon_released)),
__anon_quasi AS (
    SELECT list(__anon_feature(COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
        OR __anon_is('quasi', __anon_c, __anon_call)))),
        list(COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR __anon_fold(__anon_c) = __anon_fold(__anon_target))::VARCHAR) AS '__anon_target_\0'
    FROM __anon_source
)
SELECT struct_pack(*COLUMNS(*)) AS __anon_lists FROM __anon_quasi;

-- The same of a raw table, whose values are printed.
CREATE OR REPLACE MACRO __anon_taught(__anon_raw, __anon_target, __anon_call) AS TABLE
WITH
__anon_source AS (SELECT *, '' AS __anon_zero FROM query_table(__anon_raw)),
__anon_quasi AS (
    SELECT list(__anon_text(COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
        OR __anon_is('quasi', __anon_c, __anon_call)))),
        list(COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR __anon_fold(__anon_c) = __anon_fold(__anon_target))::VARCHAR) AS '__anon_target_\0'
    FROM __anon_source
)
SELECT struct_pack(*COLUMNS(*)) AS __anon_lists FROM __anon_quasi;

-- The hierarchies of the quasi-identifiers, ordered by leaf.
CREATE OR REPLACE MACRO __anon_taught_trees(__anon_raw, __anon_call, __anon_hierarchy) AS TABLE
WITH
__anon_grown AS MATERIALIZED (FROM __anon_trees(__anon_raw, __anon_call, __anon_hierarchy)),
__anon_columns AS (SELECT unnest(__anon_trees) FROM __anon_grown),
__anon_texts AS (SELECT list_sort(COLUMNS(*)) FROM __anon_columns)
SELECT struct_pack(*COLUMNS(*)) AS __anon_ordered FROM __anon_texts;
