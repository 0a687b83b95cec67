-- The classes of a release: labels, size, and for each sensitive column its name and its t. Where
-- there is no class, one row of NULLs, so that the check of the call is made.
CREATE OR REPLACE MACRO __anon_distant_classes(
    __anon_function, __anon_raw, __anon_released, __anon_sensitive, __anon_qids, __anon_hierarchy
) AS TABLE
WITH
__anon_numbered AS MATERIALIZED (
    FROM __anon_sensitive_classes(
        __anon_raw, __anon_released,
        __anon_measure_call(__anon_raw, __anon_qids, __anon_sensitive))),
__anon_asked AS MATERIALIZED (
    FROM __anon_protected(
        __anon_function, __anon_raw, __anon_released,
        __anon_measure_call(__anon_raw, __anon_qids, __anon_sensitive), __anon_hierarchy,
        '__anon_numbered', 'distinct', 3)),
__anon_climbs AS MATERIALIZED (
    FROM __anon_climbed_values(
        __anon_function, __anon_raw, __anon_released,
        __anon_measure_call(__anon_raw, __anon_qids, __anon_sensitive), __anon_hierarchy)),
__anon_counts AS (FROM __anon_sensitive_counts('__anon_numbered')),
__anon_values AS MATERIALIZED (
    FROM __anon_sensitive_values(
        __anon_raw, __anon_released,
        __anon_measure_call(__anon_raw, __anon_qids, __anon_sensitive))),
__anon_met AS MATERIALIZED (
    FROM __anon_met_values('__anon_counts', '__anon_values', '__anon_asked', '__anon_climbs')),
__anon_far AS (
    FROM __anon_equal_distances('__anon_met')
    UNION ALL FROM __anon_ordered_distances('__anon_met', '__anon_values')
    UNION ALL FROM __anon_tree_distances('__anon_met', '__anon_values', '__anon_climbs')
),
__anon_foreign AS (
    SELECT sum(__anon_count) FILTER (__anon_rank IS NULL) AS __anon_lacking FROM __anon_met
),
__anon_labelled AS (
    FROM __anon_classes_labels(
        '__anon_numbered', __anon_measure_call(__anon_raw, __anon_qids, __anon_sensitive))
    JOIN __anon_far USING (__anon_class)
)
SELECT
    __anon_labelled.* EXCLUDE (__anon_zero, __anon_class, __anon_t),
    CASE
        WHEN __anon_lacking > 0 THEN error(
            __anon_function
            || ': every sensitive value of the release must stand in the raw table, got '
            || __anon_lacking || ' rows with one that does not; '
            'the raw table comes first and its release second')
        ELSE __anon_t END AS __anon_t
FROM
    (__anon_asked CROSS JOIN __anon_foreign)
    LEFT JOIN __anon_labelled ON len(__anon_protects.sensitive) > 0;
