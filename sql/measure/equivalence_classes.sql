-- The equivalence classes of a release: labels, size, loss, and how varied sensitive values are.
--
-- raw: name of the original table. released: name of its release, label or typed format.
-- qids: the quasi-identifiers; NULL means as declared in comments on the raw table.
-- hierarchy: the relation that the release was made with; NULL for none.
-- sensitive: a name or a list of names, besides those declared.
-- Returns: a row per class: the quasi-identifiers as in the release, size (rows), ncp (mean over
--   the quasi-identifiers, 0…1), distinct_<name> (values of each sensitive column that are not
--   NULL). Rows shown as * are a class; rows left out of the release have no labels and are not
--   listed.
-- Errors: no quasi-identifier, one that the release lacks or that is called like a column of the
--   result, a label that cannot be read, raw and release swapped.
-- Example: SELECT * FROM equivalence_classes('people', 'release', qids := ['age', 'city']);
CREATE OR REPLACE MACRO equivalence_classes(
    raw, released, qids := NULL, sensitive := NULL, hierarchy := NULL
) AS TABLE
WITH
__anon_grown AS MATERIALIZED (
    FROM __anon_trees(raw, __anon_measure_call(raw, qids, sensitive), hierarchy)),
__anon_held AS MATERIALIZED (
    FROM __anon_measure_domain(raw, __anon_measure_call(raw, qids, sensitive))),
__anon_grouped AS (
    SELECT
        COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR __anon_is('quasi', __anon_c, __anon_measure_call(raw, qids, sensitive))),
        count(DISTINCT COLUMNS(lambda __anon_c: __anon_c = '__anon_none'
            OR __anon_measure_protects(__anon_c, __anon_measure_call(raw, qids, sensitive))))
            AS 'distinct_\0',
        count(*) AS __anon_size
    FROM (SELECT *, 0 AS __anon_zero, 0 AS __anon_none FROM query_table(released))
    GROUP BY ALL
),
__anon_numbered AS MATERIALIZED (SELECT *, row_number() OVER () AS __anon_class FROM __anon_grouped),
__anon_classed AS (
    SELECT COLUMNS(lambda __anon_c: __anon_c IN ('__anon_zero', '__anon_size', '__anon_class')
        OR __anon_is('quasi', __anon_c, __anon_measure_call(raw, qids, sensitive)))
    FROM __anon_numbered
),
__anon_varied AS (
    SELECT COLUMNS(lambda __anon_c: __anon_c IN ('distinct___anon_none', '__anon_class')
        OR __anon_c[:9] = 'distinct_' AND __anon_measure_protects(
            __anon_c[10:], __anon_measure_call(raw, qids, sensitive)))
    FROM __anon_numbered
),
__anon_lost AS MATERIALIZED (
    FROM __anon_measure_losses('__anon_classed', '__anon_held', 'share', '__anon_grown')),
__anon_summed AS (FROM __anon_measure_sums('__anon_lost')),
__anon_checked AS MATERIALIZED (
    FROM __anon_measure_check(
        'equivalence_classes', raw, released, 5, 'share',
        __anon_measure_call(raw, qids, sensitive), '__anon_held', '__anon_summed')),
__anon_allowed AS MATERIALIZED (
    SELECT __anon_measure_sensitive(
        'equivalence_classes', __anon_measure_call(raw, qids, sensitive), __anon_plan,
        __anon_released_types, ['size', 'ncp']) AS __anon_allows
    FROM __anon_checked
)
SELECT
    __anon_classed.* EXCLUDE (__anon_zero, __anon_size, __anon_class),
    __anon_classed.__anon_size AS size,
    list_avg(list_transform(__anon_cells, lambda __anon_x: __anon_x.loss)) AS ncp,
    __anon_varied.* EXCLUDE (distinct___anon_none, __anon_class)
FROM
    __anon_allowed,
    __anon_classed
    JOIN __anon_varied USING (__anon_class)
    JOIN __anon_lost USING (__anon_class)
WHERE __anon_allows;
