-- The classes of a release: labels, size, and for each sensitive column its name and its l. Where
-- there is no class, one row of NULLs, so that the check of the call is made.
CREATE OR REPLACE MACRO __anon_diverse_classes(
    __anon_function, __anon_raw, __anon_released, __anon_sensitive, __anon_kind, __anon_c,
    __anon_qids, __anon_hierarchy
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
        '__anon_numbered', __anon_kind, __anon_c)),
__anon_counts AS (FROM __anon_sensitive_counts('__anon_numbered')),
__anon_varied AS (
    SELECT __anon_class, __anon_name, __anon_l
    FROM __anon_plain_diversity('__anon_counts') WHERE __anon_kind = 'distinct'
    UNION ALL
    SELECT __anon_class, __anon_name, __anon_exp_entropy
    FROM __anon_plain_diversity('__anon_counts') WHERE __anon_kind = 'entropy'
    UNION ALL
    SELECT __anon_class, __anon_name, __anon_l
    FROM __anon_recursive_diversity('__anon_counts', __anon_c) WHERE __anon_kind = 'recursive'
),
__anon_labelled AS (
    FROM __anon_classes_labels(
        '__anon_numbered', __anon_measure_call(__anon_raw, __anon_qids, __anon_sensitive))
    JOIN __anon_varied USING (__anon_class)
)
SELECT __anon_labelled.* EXCLUDE (__anon_zero, __anon_class)
FROM __anon_asked LEFT JOIN __anon_labelled ON __anon_protects.kind = __anon_kind;
