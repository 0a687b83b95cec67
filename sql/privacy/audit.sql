-- Whether a release keeps its promise: one row per property, held against the raw table. passed is
-- NULL where it cannot be told, and never true then.
-- 'rows': raw = released; NULL where rows are left out with suppressed := 'drop', since nobody can
--   tell suppressed rows from lost ones. 'k', 'l', 't': of the worst class, as k_anonymity,
--   l_diversity and t_closeness have it; l and t are not measured where they are NULL.
-- 'suppressed rows': none, or k, shown as * or left out.
-- 'kept values': released rows whose values beside the labels no raw row has that is left.
-- 'labels': released rows whose labels cover no raw row with the same kept values. 'raw rows': those
--   that no released row covers, the ones left out aside. Both are necessary. 'matching', which is
--   sufficient: released rows that have no raw row of their own when as many as can be have one.
--   NULL, all three, where too many rows share their kept values, with 2,000 million pairs of a row
--   and a class; slowest just below that, with one kept column of few values.
-- 'spelling': labels that a release would print in another way, or cannot mean.
-- 'unique range ends': those that one raw row holds. Labels are tight, so there may be some: NULL.
-- 'added columns': those that the raw table lacks. 'identifiers': those that were declared; NULL
--   where none is. 'identifying columns': those without a role of which nine values in ten differ.
-- 'row numbers': columns of consecutive whole numbers, or without a role and ascending in the raw
--   table.
--
-- raw: name of the original table. released: name of its release, label or typed format.
-- k, l, t: what the release should have; a k of NULL only measures, as an l or t of 1 does.
-- l_kind: 'distinct', 'entropy' or 'recursive'. c: the c of 'recursive'.
-- qids, sensitive, identifiers, keep: roles; NULL means as declared in comments on the raw table.
-- hierarchy: the relation that the release was made with; NULL for none.
-- entity: a column that tells persons apart, over whom k, l and t are counted. Where the release
--   lacks it k is the fewest persons that its rows can be of, and l (but for 'distinct') and t are
--   NULL unless each row can be of one person alone.
-- suppressed: 'keep' or 'drop', as the release was made; with 'drop' rows left out are no class.
-- synthetic: rows that a perturbative release has more; what does not apply to it is NULL.
-- Returns: property, required, found (numbers), passed (BOOLEAN), example (labels, names of columns
--   or counts).
-- Errors: no quasi-identifier, one or a sensitive column that the release lacks, columns of other
--   types than a release has, raw and release swapped, an l or t without a sensitive column.
-- Example: SELECT * FROM audit('people', 'release', 2, qids := ['age', 'city']);
CREATE OR REPLACE MACRO audit(
    raw, released, k := NULL, l := NULL, t := NULL, qids := NULL, sensitive := NULL,
    identifiers := NULL, keep := NULL, l_kind := 'distinct', c := 3, hierarchy := NULL,
    entity := NULL, suppressed := 'keep', synthetic := 0
) AS TABLE
WITH
__anon_asked AS MATERIALIZED (
    FROM __anon_audit_asked(
        raw, released, k, {
            'l': l, 't': t, 'l_kind': l_kind, 'c': c, 'suppressed': suppressed,
            'synthetic': synthetic},
        entity, __anon_audit_call(raw, qids, sensitive, identifiers, keep))),
__anon_numbered AS MATERIALIZED (
    FROM __anon_audit_classes(
        raw, released, l IS NOT NULL OR t IS NOT NULL,
        __anon_audit_call(raw, qids, sensitive, identifiers, keep))),
-- The lists are large: each is read once, in a join, since a scalar subquery would copy them.
__anon_held AS NOT MATERIALIZED (
    FROM __anon_audit_raw(
        raw, released, __anon_audit_call(raw, qids, sensitive, identifiers, keep))),
__anon_shown AS NOT MATERIALIZED (
    FROM __anon_audit_lists(
        '__anon_numbered', raw, __anon_audit_call(raw, qids, sensitive, identifiers, keep))),
__anon_held_lists AS NOT MATERIALIZED (SELECT struct_pack(*COLUMNS(*)) AS __anon_raw_lists FROM __anon_held),
__anon_shown_lists AS NOT MATERIALIZED (SELECT struct_pack(*COLUMNS(*)) AS __anon_class_lists FROM __anon_shown),
__anon_told AS MATERIALIZED (
    SELECT __anon_audit_properties(
        __anon_protects, __anon_raw_lists, __anon_class_lists, __anon_trees, __anon_looks,
        __anon_rising) AS __anon_tells
    FROM
        __anon_held_lists, __anon_shown_lists, __anon_asked,
        __anon_trees(
            raw, __anon_audit_call(raw, qids, sensitive, identifiers, keep), hierarchy),
        __anon_audit_columns(
            released, __anon_audit_call(raw, qids, sensitive, identifiers, keep)),
        __anon_audit_order(raw, __anon_audit_call(raw, qids, sensitive, identifiers, keep))),
__anon_climbs AS MATERIALIZED (
    FROM __anon_climbed_values(
        'audit', raw, released, __anon_audit_call(raw, qids, sensitive, identifiers, keep),
        hierarchy)),
__anon_values AS MATERIALIZED (
    FROM __anon_sensitive_values(
        raw, released, __anon_audit_call(raw, qids, sensitive, identifiers, keep),
        __anon_entity := entity)
    WHERE t IS NOT NULL),
__anon_once AS (FROM __anon_audit_once('__anon_numbered', '__anon_told')),
__anon_counts AS MATERIALIZED (
    FROM __anon_sensitive_counts('__anon_once') WHERE l IS NOT NULL OR t IS NOT NULL),
__anon_met AS MATERIALIZED (
    FROM __anon_met_values('__anon_counts', '__anon_values', '__anon_asked', '__anon_climbs')
    WHERE t IS NOT NULL),
__anon_varied AS (
    SELECT __anon_class, __anon_name, -__anon_l AS __anon_measure
    FROM __anon_plain_diversity('__anon_counts') WHERE l IS NOT NULL AND l_kind = 'distinct'
    UNION ALL
    SELECT __anon_class, __anon_name, -__anon_exp_entropy
    FROM __anon_plain_diversity('__anon_counts') WHERE l IS NOT NULL AND l_kind = 'entropy'
    UNION ALL
    SELECT __anon_class, __anon_name, -__anon_l
    FROM __anon_recursive_diversity('__anon_counts', c) WHERE l IS NOT NULL AND l_kind = 'recursive'
),
__anon_far AS (
    SELECT __anon_class, __anon_name, __anon_t AS __anon_measure
    FROM (
        FROM __anon_equal_distances('__anon_met')
        UNION ALL FROM __anon_ordered_distances('__anon_met', '__anon_values')
        UNION ALL FROM __anon_tree_distances('__anon_met', '__anon_values', '__anon_climbs')
    )
),
__anon_least AS MATERIALIZED (FROM __anon_audit_worst('__anon_varied')),
__anon_farthest AS MATERIALIZED (FROM __anon_audit_worst('__anon_far')),
__anon_named_classes AS (
    FROM __anon_numbered
    WHERE __anon_class IN (
        SELECT unnest(__anon_classes) FROM __anon_least
        UNION ALL SELECT unnest(__anon_classes) FROM __anon_farthest)
),
__anon_named_lists AS (
    FROM __anon_audit_lists(
        '__anon_named_classes', raw,
        __anon_audit_call(raw, qids, sensitive, identifiers, keep))),
__anon_found AS (
    SELECT unnest(
        __anon_tells.before
        || __anon_audit_protection(
            __anon_protects,
            (SELECT struct_pack(*COLUMNS(*)) FROM __anon_named_lists),
            (SELECT {'value': -__anon_worst, 'classes': __anon_classes, 'columns': __anon_names}
             FROM __anon_least),
            (SELECT {'value': if(__anon_lacking > 0, NULL, __anon_worst),
                'classes': __anon_classes, 'columns': __anon_names, 'lacking': __anon_lacking}
             FROM __anon_farthest, (
                SELECT count_if(__anon_rank IS NULL) AS __anon_lacking FROM __anon_met)),
            __anon_tells.persons IS NOT NULL)
        || __anon_tells.after) AS __anon_row
    FROM __anon_asked, __anon_told
)
SELECT
    __anon_row.property, __anon_row.required, __anon_row.found, __anon_row.passed,
    __anon_row.example
FROM __anon_found;
