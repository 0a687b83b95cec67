-- What methods make of a table: packed once as a release packs it, measured where it is, and
-- never given out.
CREATE OR REPLACE MACRO __anon_comparison(
    __anon_tbl, __anon_call, __anon_common_, __anon_options, __anon_hierarchy
) AS TABLE
WITH
__anon_planned AS MATERIALIZED (
    SELECT __anon_plan(
        'compare', __anon_types, __anon_k_given, __anon_call, __anon_seen(__anon_tbl),
        __anon_common_, __anon_options) AS __anon_plan
    FROM __anon_schema(__anon_tbl, 1)
),
__anon_lists AS (
    SELECT
        list(COLUMNS(lambda __anon_c:
            __anon_c = '__anon_hash' OR __anon_is('quasi', __anon_c, __anon_call))),
        list(__anon_mark(COLUMNS(lambda __anon_c: __anon_is('loose', __anon_c, __anon_call))))
            AS '__anon_mark_\0',
        __anon_key_list(COLUMNS(lambda __anon_c: __anon_c = '__anon_nobody'
            OR __anon_is('protected', __anon_c, __anon_call))) AS '__anon_key_\0'
    FROM
        (SELECT *, {'__anon_none': 0} AS __anon_nobody FROM __anon_rows(__anon_tbl, __anon_call)),
        __anon_planned
    WHERE CASE
        WHEN __anon_row <= __anon_plan.rows THEN true ELSE error(__anon_plan.too_large) END
),
__anon_given AS MATERIALIZED (
    SELECT struct_pack(*COLUMNS(__anon_lists.*)) AS __anon_packed FROM __anon_lists
),
__anon_compared AS MATERIALIZED (
    SELECT __anon_compare(__anon_plan, __anon_packed, __anon_options, __anon_trees)
        AS __anon_found
    FROM
        __anon_planned, __anon_given,
        __anon_trees(__anon_tbl, __anon_call, __anon_hierarchy)
)
SELECT unnest(__anon_one)
FROM (SELECT unnest(__anon_found) AS __anon_one FROM __anon_compared);
