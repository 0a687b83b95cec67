-- A relation as one row for a step that is no release: every column as a list, the plan, and
-- what the step's function is given.
CREATE OR REPLACE MACRO __anon_work(
    __anon_function, __anon_tbl, __anon_k, __anon_call, __anon_suppressed, __anon_seed, __anon_options,
    __anon_hierarchy := NULL
) AS TABLE
WITH
__anon_planned AS MATERIALIZED (
    SELECT __anon_plan(
        __anon_function, __anon_types, __anon_k_given, __anon_call, __anon_seen(__anon_tbl),
        __anon_common('label', __anon_suppressed, __anon_seed), __anon_options) AS __anon_plan
    FROM __anon_schema(__anon_tbl, __anon_k)
),
__anon_lists AS MATERIALIZED (
    SELECT list(COLUMNS(lambda __anon_c:
        __anon_c NOT IN ('__anon_zero', '__anon_row', '__anon_plan')))
    FROM __anon_rows(__anon_tbl, __anon_call), __anon_planned
    WHERE CASE
        WHEN __anon_row <= __anon_plan.rows THEN true ELSE error(__anon_plan.too_large) END
),
__anon_given AS (
    SELECT struct_pack(*COLUMNS(lambda __anon_c: __anon_is('quasi', __anon_c, __anon_call)
        OR __anon_is('classes', __anon_c, __anon_call) OR __anon_c = '__anon_hash')) AS __anon_packed
    FROM __anon_lists
)
SELECT *
FROM
    __anon_lists, __anon_planned, __anon_given,
    __anon_trees(__anon_tbl, __anon_call, __anon_hierarchy);
