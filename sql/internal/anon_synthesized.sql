-- The rows of a relation and, below them, synthetic ones made of their values; __anon_made says
-- which is which. The relation is read once, whatever is read of the result.

-- What a generator sees of a value: something that is equal where values are, and where it lies
-- on a line.
CREATE OR REPLACE MACRO __anon_code(x) AS if(x IS NULL, NULL, hash(__anon_whole(x)));
CREATE OR REPLACE MACRO __anon_number(x) AS
    __anon_quality_number(list_extract(list_value(x), 1), x);

CREATE OR REPLACE MACRO __anon_synthesized(
    __anon_function, __anon_tbl, __anon_k, __anon_call, __anon_common_, __anon_options
) AS TABLE
WITH
__anon_source AS MATERIALIZED (FROM query_table(__anon_tbl)),
__anon_settled AS MATERIALIZED (
    SELECT __anon_plan(
        __anon_function, __anon_types, __anon_k_given, __anon_call, __anon_seen(__anon_tbl),
        __anon_common_, __anon_options) AS __anon_plan
    FROM __anon_schema(__anon_tbl, __anon_k)
),
__anon_real AS MATERIALIZED (
    SELECT
        list(COLUMNS(lambda __anon_c: __anon_is('released', __anon_c, __anon_call))),
        list(__anon_code(COLUMNS(lambda __anon_c: __anon_is('released', __anon_c, __anon_call))))
            AS '__anon_code_\0',
        list(__anon_number(COLUMNS(lambda __anon_c: __anon_is('released', __anon_c, __anon_call))))
            AS '__anon_number_\0',
        list(__anon_mark(COLUMNS(lambda __anon_c: __anon_is('loose', __anon_c, __anon_call))))
            AS '__anon_mark_\0'
    FROM __anon_rows('__anon_source', __anon_call), __anon_settled
    WHERE CASE
        WHEN __anon_row <= __anon_plan.rows THEN true ELSE error(__anon_plan.too_large) END
),
__anon_drawn AS MATERIALIZED (
    SELECT __anon_synthesize(
        __anon_plan,
        struct_pack(*COLUMNS(lambda __anon_c: __anon_c[:12] = '__anon_code_'
            OR __anon_c[:14] = '__anon_number_' OR __anon_c[:12] = '__anon_mark_')),
        __anon_options) AS __anon_positions
    FROM __anon_real, __anon_settled
),
__anon_values AS (
    SELECT COLUMNS(lambda __anon_c: __anon_is('released', __anon_c, __anon_call)) FROM __anon_real
)
(SELECT *, 0 AS __anon_made FROM __anon_source)
UNION ALL BY NAME
(SELECT
    unnest(list_select(
        COLUMNS(__anon_values.*), __anon_positions[alias(COLUMNS(__anon_values.*))])),
    1 AS __anon_made
 FROM __anon_values, __anon_drawn);
