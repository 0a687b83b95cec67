-- How likely a person in a release is found again by a prosecutor, who knows that the person is in
-- the table (El Emam and Dankar 2008): 1 / f, f the rows with the same labels. Rows shown as * are
-- one class with those left out of the release, since nobody can tell which they are; the rows left
-- out are not published, so they are not counted as at risk.
--
-- raw: name of the original table. released: name of its release, label or typed format.
-- threshold: a row is at risk above it, 0…1.
-- qids: the quasi-identifiers; NULL means as declared in comments on the raw table.
-- hierarchy: the relation that the release was made with; NULL for none.
-- Returns: one row: rows (of the release), prosecutor (the highest risk, 0…1), prosecutor_mean (over
--   the rows of the release; classes / rows where none is suppressed), prosecutor_at_risk (rows
--   above the threshold). Both risks are NULL for an empty release.
-- Errors: no quasi-identifier, one that the release lacks, a label that cannot be read, raw and
--   release swapped, a threshold outside 0…1.
-- Example: SELECT * FROM risk('people', 'release', qids := ['age', 'city']);
CREATE OR REPLACE MACRO risk(
    raw, released, threshold := 0.2, qids := NULL, hierarchy := NULL
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
)
SELECT
    __anon_shown AS rows,
    __anon_highest AS prosecutor,
    __anon_mean AS prosecutor_mean,
    __anon_many AS prosecutor_at_risk
FROM __anon_checked, __anon_told
WHERE __anon_plan.k > 0 AND __anon_threshold >= 0;
