-- The way of a release by SDkA up to its classes, which are counted instead of printed.
CREATE OR REPLACE MACRO __anon_sdka_counted(
    __anon_tbl, __anon_k, __anon_call, __anon_common_, __anon_options, __anon_hierarchy
) AS TABLE
WITH
__anon_mixed AS MATERIALIZED (
    FROM __anon_synthesized(
        'sdka', __anon_tbl, __anon_k, __anon_call, __anon_common_, __anon_options)),
__anon_settled AS MATERIALIZED (
    SELECT __anon_plan(
        'sdka', __anon_types, __anon_k_given, __anon_call, __anon_seen(__anon_tbl),
        __anon_common_, __anon_options) AS __anon_plan
    FROM __anon_schema(__anon_tbl, __anon_k)
),
__anon_lists AS (
    SELECT
        list(COLUMNS(lambda __anon_c: __anon_is('quasi', __anon_c, __anon_call)
            OR __anon_c IN ('__anon_hash', '__anon_made'))),
        __anon_key_list(COLUMNS(lambda __anon_c: __anon_c = '__anon_nobody'
            OR __anon_is('protected', __anon_c, __anon_call))) AS '__anon_key_\0'
    FROM (
        SELECT *, {'__anon_none': 0} AS __anon_nobody
        FROM __anon_rows('__anon_mixed', __anon_call))
),
__anon_given AS (SELECT struct_pack(*COLUMNS(*)) AS __anon_packed FROM __anon_lists),
__anon_found AS MATERIALIZED (
    SELECT __anon_sdka_stats(__anon_plan, __anon_packed, __anon_options, __anon_trees)
        AS __anon_stats
    FROM __anon_settled, __anon_given, __anon_trees(__anon_tbl, __anon_call, __anon_hierarchy)
),
__anon_texts AS (
    SELECT __anon_text(COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
        OR __anon_measure_protects(__anon_c, __anon_call)))::VARCHAR
    FROM (SELECT *, '' AS __anon_zero FROM __anon_mixed WHERE __anon_made = 1)
),
__anon_pairs AS (
    SELECT __anon_named(alias(COLUMNS(__anon_texts.*)), COLUMNS(__anon_texts.*)) FROM __anon_texts
),
__anon_counts AS (
    SELECT __anon_cell.name AS __anon_name, __anon_cell.value AS __anon_value, count(*) AS __anon_n
    FROM (SELECT unnest(list_value(*COLUMNS(*))) AS __anon_cell FROM __anon_pairs)
    WHERE __anon_cell.name <> '__anon_zero'
    GROUP BY ALL
),
__anon_listed AS (
    SELECT coalesce(
        list({'attribute': __anon_name, 'value': __anon_value, 'rows': __anon_n}
            ORDER BY __anon_name, __anon_n DESC, __anon_value), []) AS __anon_added
    FROM __anon_counts
)
SELECT
    __anon_stats.real_rows, __anon_stats.synthetic_rows, __anon_added AS added,
    __anon_stats.clusters, __anon_stats.merged, __anon_stats.classes,
    __anon_stats.smallest_class, __anon_stats.iloss, __anon_stats.gcp
FROM __anon_found, __anon_listed;
