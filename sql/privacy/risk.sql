-- The risk of re-identification of the persons in a release (El Emam and Dankar 2008; Dankar and El
-- Emam 2010). Prosecutor risk assumes that the attacker knows that the person is in the table: 1 /
-- f, where f is the number of rows with the same labels. Journalist risk does not assume this: 1 /
-- F, where F is the number of rows of the population that the labels match. Marketer risk is the
-- mean of 1 / F over the rows, (1 / n) * sum f / F over the classes. Without a population both are
-- NULL; if the table is the whole population, pass it as population. Rows shown as * are one class
-- together with the rows left out of the release, and match every person; rows left out are not
-- published and are not counted as at risk.
--
-- raw: name of the raw table. released: name of its release, in label or typed format.
-- population: name of a table of all persons who could be in the raw table, including those in it,
--   with its quasi-identifiers. Its distinct rows are compared with all classes.
-- threshold: a row is at risk above this value, 0…1.
-- qids: the quasi-identifiers; NULL means as declared in comments on the raw table.
-- hierarchy: the hierarchy table that the release was made with; NULL for none.
-- Returns: one row: rows (of the release), prosecutor (the maximum, 0…1), prosecutor_mean (over the
--   rows of the release; classes / rows if none is suppressed), prosecutor_at_risk (rows above the
--   threshold), journalist (the maximum), journalist_at_risk, marketer. Risks are NULL for an empty
--   release.
-- Errors: no quasi-identifier, one that the release or the population lacks, a label that cannot be
--   read, raw and release swapped, a threshold outside 0…1, a label that matches fewer rows of the
--   population than of the release.
-- Example: SELECT * FROM risk('people', 'release', qids := ['age', 'city']);
CREATE OR REPLACE MACRO risk(
    raw, released, population := NULL, threshold := 0.2, qids := NULL, hierarchy := NULL
) AS TABLE
WITH
__anon_classed AS (
    FROM __anon_groups(released, __anon_measure_call(raw, qids, NULL), 'quasi')),
__anon_nobody AS (FROM query_table(raw) LIMIT 0),
__anon_people AS (
    FROM __anon_population(
        raw, coalesce(population, '__anon_nobody'), __anon_measure_call(raw, qids, NULL)))
SELECT system.main.unnest(
    __anon_risk(
        __anon_given, threshold, CASE WHEN population IS NOT NULL THEN __anon_h.__anon_types END,
        __anon_b.__anon_types, __anon_groups),
    recursive := true)
FROM
    __anon_given(
        raw, released, __anon_measure_call(raw, qids, NULL), hierarchy, '__anon_classed'),
    __anon_types(coalesce(population, '__anon_nobody')) AS __anon_h,
    __anon_types('__anon_people') AS __anon_b,
    __anon_groups('__anon_people', __anon_measure_call(raw, qids, NULL), 'quasi');
