-- The risk of re-identification of the people in a release (El Emam and Dankar 2008; Dankar and El
-- Emam 2010). Prosecutor risk assumes that the attacker knows that the person is in the table: 1 /
-- f, where f is the number of rows with the same labels. Journalist risk does not assume this: 1 /
-- F, where F is the number of rows of the population that the labels match. Marketer risk is the
-- mean of 1 / F over the rows, (1 / n) * sum f / F over the classes. If the table is the whole
-- population, pass it as population. Rows shown as * are one class together with the rows left out
-- of the release, and match every person; rows left out are not published and are not counted as at
-- risk.
-- If the raw table is a random sample and the population is unknown, pass sampling_fraction or
-- population_size, or the weights of the rows: 1 / F is then replaced by its expectation E(1 / F | f)
-- (Benedetti and Franconi 1998), and the share of the population that is unique on the labels is
-- estimated by three models: pitman (Hoshino 2001), zayatz (Zayatz 1991) and snb (Chen and McNulty
-- 1998). population_unique is the one that the rule of Dankar et al. 2012 takes. Without any of these
-- all but the prosecutor's risks are NULL.
--
-- raw: name of the raw table. released: name of its release, in any format; with population in
--   label or typed format. Without it, the first table is measured as it is: its cells are values,
--   not labels.
-- population: table of all people who could be in the raw table, including those who are, with the
--   same quasi-identifiers. Its distinct rows are compared with all classes.
-- threshold: a row is at risk if its risk exceeds this, 0…1.
-- quasi: the quasi-identifiers; NULL means the columns declared in comments on the raw table.
-- hierarchy: hierarchies that the release was made with; NULL for none.
-- sampling_fraction: rows of the raw table divided by rows of the population, above 0 and at most
--   1.
-- population_size: rows of the population.
-- sampling_weights: column of the release that holds sampling weights: the number of people in the
--   population for whom a row stands.
-- Returns: one row: rows (of the release), prosecutor (the maximum, 0…1), prosecutor_mean (over the
--   rows of the release; classes / rows if none is suppressed), prosecutor_at_risk (rows above the
--   threshold), journalist (the maximum), journalist_at_risk, marketer; with a population also k_map
--   (the smallest F), presence_min and presence_max (δ-presence: f / F, 0 if the labels do not match
--   a person of the population); with a sample also population_unique (0…1), estimator ('pitman',
--   'zayatz' or 'snb'), pitman, zayatz and snb (0…1, NULL if the model does not fit). Risks are NULL
--   for an empty release.
-- Errors: no quasi-identifier, one that the release or the population lacks, a label that cannot be
--   read, raw and release swapped, a threshold outside 0…1, a label that matches fewer rows of the
--   population than of the release, more than one description of the population, a population
--   smaller than the raw table, weights that are no positive numbers.
-- Example: SELECT * FROM risk('people', 'release', quasi := ['age', 'city'], sampling_fraction := 0.01);
CREATE OR REPLACE MACRO risk(
    raw, released := NULL, population := NULL, threshold := 0.2, quasi := NULL, hierarchy := NULL,
    sampling_fraction := NULL, population_size := NULL, sampling_weights := NULL
) AS TABLE
WITH
__anon_classed AS (
    FROM __anon_weighted_groups(
        coalesce(released, raw), __anon_measure_call(raw, quasi, NULL), sampling_weights)),
__anon_no_one AS (FROM query_table(raw) LIMIT 0),
__anon_people AS (
    FROM __anon_population(
        raw, coalesce(population, '__anon_no_one'), __anon_measure_call(raw, quasi, NULL)))
SELECT system.main.unnest(
    __anon_measures_risks(
        __anon_given, CASE WHEN population IS NOT NULL THEN __anon_h.__anon_types END,
        __anon_b.__anon_types, __anon_groups, system.main.struct_pack(
            threshold := threshold, sampling_fraction := sampling_fraction,
            population_size := population_size, sampling_weights := sampling_weights)),
    recursive := true)
FROM
    __anon_given(
        raw, coalesce(released, raw), __anon_measure_call(raw, quasi, NULL), hierarchy,
        '__anon_classed', __anon_is_alone := released IS NULL),
    __anon_types(coalesce(population, '__anon_no_one')) AS __anon_h,
    __anon_types('__anon_people') AS __anon_b,
    __anon_groups('__anon_people', __anon_measure_call(raw, quasi, NULL), 'quasi');
