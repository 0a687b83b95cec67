-- How likely a person in a release is found again (El Emam and Dankar 2008; Dankar and El Emam
-- 2010). A prosecutor knows that the person is in the table: 1 / f, f the rows with the same
-- labels. A journalist does not: 1 / F, F the rows of the population that the labels match; and a
-- marketer wants as many as can be: the mean of 1 / F over the rows, (1 / n) * sum f / F over the
-- classes. Without a population nobody knows F, and both are NULL; where the table is the whole
-- population, name it. Rows shown as * are one class with those left out of the release, since
-- nobody can tell which they are, and match everybody; the rows left out are not published, so they
-- are not counted as at risk.
--
-- raw: name of the original table. released: name of its release, label or typed format.
-- population: name of a table of all who could be in the raw table, those who are included, with
--   its quasi-identifiers. Its distinct rows are compared with the classes, one with the other.
-- threshold: a row is at risk above it, 0…1.
-- qids: the quasi-identifiers; NULL means as declared in comments on the raw table.
-- hierarchy: the relation that the release was made with; NULL for none.
-- Returns: one row: rows (of the release), prosecutor (the highest risk, 0…1), prosecutor_mean (over
--   the rows of the release; classes / rows where none is suppressed), prosecutor_at_risk (rows
--   above the threshold), journalist (the highest), journalist_at_risk, marketer. Risks are NULL for
--   an empty release.
-- Errors: no quasi-identifier, one that the release or the population lacks, a label that cannot be
--   read, raw and release swapped, a threshold outside 0…1, a population with fewer rows that
--   a label matches than rows have it.
-- Example: SELECT * FROM risk('people', 'release', qids := ['age', 'city']);
CREATE OR REPLACE MACRO risk(
    raw, released, population := NULL, threshold := 0.2, qids := NULL, hierarchy := NULL
) AS TABLE
WITH
__anon_grown AS MATERIALIZED (
    FROM __anon_trees(raw, __anon_measure_call(raw, qids, NULL), hierarchy)),
__anon_held AS MATERIALIZED (
    FROM __anon_measure_domain(raw, __anon_measure_call(raw, qids, NULL))),
__anon_classed AS (FROM __anon_measure_classes(released, __anon_measure_call(raw, qids, NULL))),
__anon_lost AS MATERIALIZED (
    FROM __anon_measure_losses('__anon_classed', '__anon_held', 'share', '__anon_grown')),
__anon_summed AS (FROM __anon_measure_sums('__anon_lost')),
__anon_checked AS MATERIALIZED (
    SELECT *, __anon_measure_threshold('risk', threshold) AS __anon_threshold
    FROM __anon_measure_check(
        'risk', raw, released, 5, 'share', __anon_measure_call(raw, qids, NULL),
        '__anon_held', '__anon_summed')),
__anon_found AS (
    SELECT
        __anon_size,
        1::DOUBLE / if(__anon_starred, __anon_suppressed, __anon_size) AS __anon_risk,
        __anon_threshold
    FROM __anon_checked, __anon_lost
),
__anon_told AS (
    SELECT
        max(__anon_risk) AS __anon_highest,
        sum(__anon_size * __anon_risk) / sum(__anon_size) AS __anon_mean,
        coalesce(sum(__anon_size) FILTER (__anon_risk > __anon_threshold), 0)::BIGINT
            AS __anon_many
    FROM __anon_found
),
__anon_nobody AS (FROM query_table(raw) LIMIT 0),
__anon_people AS (
    FROM __anon_population(
        raw, coalesce(population, '__anon_nobody'), __anon_measure_call(raw, qids, NULL))),
__anon_listed AS (FROM __anon_population_lists('__anon_people')),
__anon_read AS (
    FROM __anon_audit_lists(
        '__anon_classed', '__anon_people', __anon_measure_call(raw, qids, NULL))),
__anon_matched AS (
    SELECT __anon_population_risk(
        __anon_plan, __anon_r.__anon_types, __anon_released_types, __anon_p.__anon_types,
        (SELECT struct_pack(*COLUMNS(*)) FROM __anon_listed),
        (SELECT struct_pack(*COLUMNS(*)) FROM __anon_read),
        (SELECT __anon_trees FROM __anon_trees(
            '__anon_people', __anon_measure_call(raw, qids, NULL), hierarchy)),
        __anon_suppressed, __anon_threshold)
        AS __anon_known
    FROM
        __anon_checked, __anon_schema(raw, 0) AS __anon_r,
        __anon_schema(coalesce(population, '__anon_nobody'), 0) AS __anon_p
    WHERE population IS NOT NULL
)
SELECT
    __anon_shown AS rows,
    __anon_highest AS prosecutor,
    __anon_mean AS prosecutor_mean,
    __anon_many AS prosecutor_at_risk,
    __anon_known.journalist AS journalist,
    __anon_known.at_risk AS journalist_at_risk,
    __anon_known.marketer AS marketer
FROM __anon_checked, __anon_told LEFT JOIN __anon_matched ON true
WHERE __anon_plan.k > 0 AND __anon_threshold >= 0;
