-- The t that a release has: the distance between the sensitive values of a class and those of the
-- raw table, in the class where it is greatest (Li et al. 2007, earth mover's distance). For
-- numbers, dates and times moving to the next value costs 1 / (values - 1); for all else, and for
-- a column with NULLs, which are a value, any move costs 1; where the hierarchy names the column
-- a move costs the height of the lowest node above both values / the height of the tree, and NULL
-- stands below the root. Suppressed rows, shown as *, are a class; rows left out of the release
-- publish no sensitive value and are none, but count in the raw table.
--
-- raw: name of the original table. released: name of its release, label or typed format.
-- sensitive: a name or a list of names, besides those declared; of several the worst counts.
-- qids: the quasi-identifiers; NULL means as declared in comments on the raw table.
-- hierarchy: the relation that the release was made with, which may name sensitive columns too;
--   NULL for none.
-- Returns: DOUBLE, 0…1; NULL for an empty release.
-- Errors: no quasi-identifier or sensitive column, one that the release lacks, a label that cannot
--   be read, raw and release swapped, sensitive values that the raw table or the hierarchy lacks.
-- Example: SELECT t_closeness('people', 'release', 'illness', qids := ['age', 'city']);
CREATE OR REPLACE MACRO t_closeness(
    raw, released, sensitive := NULL, qids := NULL, hierarchy := NULL
) AS (
    WITH
    __anon_numbered AS MATERIALIZED (
        FROM __anon_sensitive_classes(raw, released, __anon_measure_call(raw, qids, sensitive))),
    __anon_asked AS MATERIALIZED (
        FROM __anon_protected(
            't_closeness', raw, released, __anon_measure_call(raw, qids, sensitive), hierarchy,
            '__anon_numbered', 'distinct', 3)),
    __anon_climbs AS MATERIALIZED (
        FROM __anon_climbed_values(
            't_closeness', raw, released, __anon_measure_call(raw, qids, sensitive), hierarchy)),
    __anon_counts AS (FROM __anon_sensitive_counts('__anon_numbered')),
    __anon_values AS MATERIALIZED (
        FROM __anon_sensitive_values(
            raw, released, __anon_measure_call(raw, qids, sensitive))),
    __anon_met AS MATERIALIZED (
        FROM __anon_met_values(
            '__anon_counts', '__anon_values', '__anon_asked', '__anon_climbs')),
    __anon_far AS (
        FROM __anon_equal_distances('__anon_met')
        UNION ALL FROM __anon_ordered_distances('__anon_met', '__anon_values')
        UNION ALL FROM __anon_tree_distances('__anon_met', '__anon_values', '__anon_climbs')
    ),
    __anon_foreign AS (
        SELECT sum(__anon_count) FILTER (__anon_rank IS NULL) AS __anon_lacking FROM __anon_met
    ),
    __anon_worst AS (SELECT max(__anon_t) AS __anon_t FROM __anon_far)
    SELECT CASE
        WHEN __anon_lacking > 0 THEN error(
            't_closeness: every sensitive value of the release must stand in the raw table, got '
            || __anon_lacking || ' rows with one that does not; '
            'the raw table comes first and its release second')
        ELSE __anon_t END
    FROM __anon_asked, __anon_foreign, __anon_worst
    WHERE len(__anon_protects.sensitive) > 0
);
