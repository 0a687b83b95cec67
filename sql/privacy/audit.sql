-- Checks a release against its raw table, one row per property. passed is NULL if the property cannot
-- be decided.
-- 'rows': the release has as many rows as the raw table; NULL with suppressed := 'drop' if rows are
-- missing, because suppressed rows cannot be distinguished from lost ones.
-- 'k', 'l', 't' and the levels of all other privacy models: those of the worst class, as in
-- k_anonymity, l_diversity, t_closeness and so on. l and t are not measured if they are NULL, and the
-- others, except k, are left out.
-- 'people': the smallest number of people in a class, by identifiers that have several rows: those
-- that are passed or declared, and those that suggest_roles would name by the first 2,000 rows. Names,
-- addresses and texts count only if most rows with one value are alike in all quasi-identifiers,
-- since different people may share them. A kept column counts if its values and the combinations of
-- quasi-identifiers mostly tell each other. NULLs are one person. If the release lacks the identifier,
-- the number is a bound from below. It is NULL if nothing is counted: no identifier repeats, entity
-- names one, or unit is 'row'.
-- 'suppressed_rows': none, or at least k, shown as * or left out.
-- 'kept_values': released rows whose values beside the labels match no remaining raw row; all rows if
-- the release lacks a column with the role keep.
-- 'true_labels': released rows whose labels cover no raw row with the same kept values. 'covered_rows': raw
-- rows that no released row covers, except those left out. Both are necessary conditions.
-- 'matched_rows', a sufficient condition: released rows without a raw row of their own in a maximum
-- matching. All three are NULL if so many rows share their kept values that more than 5,000 million
-- comparisons of labels with rows would be needed; 'matched_rows' also if it takes too many steps.
-- 'label_spelling': labels that cannot be read, cover no value of the raw column, or are written differently
-- from a release. An end may also be written in its shortest form: 43 for 43.0, a date for a timestamp
-- at midnight.
-- 'wider_labels': labels that cover values of the raw column but do not end at any of them, or that
-- name a text that the column lacks. They are true if they cover their rows: NULL.
-- A mean or median says nothing about a single row: as a label it covers every value except NULL if it
-- lies between the smallest and the largest raw value, and NULL covers any value. value_loss compares
-- it with the rows.
-- 'unique_range_ends': ends of ranges that only a single raw row has. Ranges end at real values, so
-- there may be some: NULL. Its meaning names the columns of which more than 5 % of the rows show a
-- single value, which bin_width of a release function hides.
-- 'added_columns': columns that the raw table lacks. 'identifiers': declared identifiers; NULL if none
-- is declared. 'identifying_columns': columns without a role in which nine values in ten differ.
-- 'row_numbers': columns of consecutive whole numbers, and columns without a role that ascend in the
-- raw table.
-- 'identifying_combinations': share of rows that are unique on the kept columns together, without
-- sensitive ones; the example names the columns that contribute most.
-- 'rare_combinations', if there are any: share of rows whose kept values fewer than k rows have; of
-- people if entity or an identifier that repeats tells them apart. NULL: what others know is not in the
-- tables.
-- 'determined_columns', if there are any: share of rows that stand out of their class by kept columns
-- that quasi-identifiers determine, exactly or nearly, or that determine one. An attacker computes them,
-- so that fewer than k rows of the class remain, or one sensitive value. The example names the columns:
-- NULL.
-- 'revealing_columns', if there are any: share of the errors that a reader who guesses a sensitive value
-- avoids by a kept column that determines it, exactly or nearly: NULL.
-- 'pseudonyms': columns whose values are all 64 hexadecimal digits, as anon_pseudonym makes them.
-- People who have two releases with the same pseudonyms can join them. That may be intended: NULL.
-- With previous, attacks on this and the earlier releases. Each is no bound: passing it is not
-- being safe. l is at least 2 in them.
-- 'intersection': share of people to whom the releases together leave fewer than l values of a
-- sensitive column, by whole tuples of sensitive and kept columns, an exact count (see composition);
-- of the worst column. They may be exposed wholly.
-- 'joined', 'left': share of rows that counts expose by subtraction, of this and of an earlier
-- release: in a union of classes that share persons, rows only came, or only went, and one value
-- makes up more than 1 / l of these. 'joined_and_left': of unions where rows came and went, if one
-- value makes up more than 1 / l of the fewest that can have come, or gone; how many did is in no
-- file: NULL.
-- 'cohort_l', the only bound: whether those who share a class in every release have l values. No
-- file tells who they are: NULL.
-- With series, of a release of a series. The properties of rows ('rows', 'kept_values', 'true_labels',
-- 'covered_rows', 'matched_rows') are NULL where former rows or people who wait can be why they fail.
-- 'series': rows that can be of no cohort, cohorts that can be whole in no class, and classes that
-- cannot have k people who are present. A class can hold a cohort whose present members its labels
-- cover, with the people who wait for it, and all of whose values it shows. A necessary condition.
-- 'cohort_l', then: share of people with a cohort who share it with people of whom the file
-- cannot show l values, l of the series.
-- 'waiting_rows': rows that fit no cohort, but fit a person of the raw table without a cohort.
-- 'former_rows': rows that fit neither a cohort nor such a person. Those of former members belong to cohorts with somebody
-- present. All four are NULL if there are too many people and classes to compare, or if the release
-- has columns of other types than the series and 'series' would fail.
--
-- raw: name of the raw table. released: name of its release, in any format.
-- k: minimum number of rows in an equivalence class; NULL means that it is measured but not
--   required.
-- l: minimum diversity of each sensitive column in a class; NULL means not measured.
-- t: largest allowed distance of a sensitive column's distribution in a class from that in the
--   table, 0…1; NULL means not measured.
-- quasi: quasi-identifiers, the columns that were generalized; NULL means the columns declared in
--   comments on the raw table.
-- sensitive: columns whose values must not be disclosed; NULL means the columns declared in
--   comments on the raw table.
-- identifiers: columns that identify a person; the release must not have them; NULL means the
--   columns declared in comments on the raw table.
-- keep: columns that were released unchanged; NULL means the columns declared in comments on the
--   raw table.
-- l_kind: kind of l-diversity: 'distinct', 'entropy' or 'recursive'.
-- c: constant c of l_kind := 'recursive'.
-- hierarchy: hierarchies that the release was made with; NULL for none.
-- entity: column that identifies the person; the privacy models then count people. If the release
--   lacks it, k is the smallest number of people to whom the rows of a class can belong. The other
--   levels, except distinct l, are then NULL unless each row can belong to one person only; NULL
--   for none.
-- suppressed: 'keep' or 'drop', as in the release; with 'drop', missing rows are not a class.
-- synthetic: number of rows that the method added; properties that do not apply to such a release
--   are NULL.
-- unique_share: largest allowed share of rows that are unique on the kept columns together, 0…1.
-- beta: largest allowed relative increase of a sensitive value's share in a class over its share in
--   the table, and never above -ln of the latter; NULL means not measured.
-- delta: upper bound on |ln(share in a class / share in the table)| of every sensitive value; NULL
--   means not measured.
-- previous: names of 1 to 11 earlier releases of people in the raw table; NULL for none.
-- previous_share: largest allowed share of people that 'intersection' finds, and of rows that
--   'joined' or 'left' does, 0…1.
-- beta_kind: 'enhanced', or 'basic' without the limit of -ln of the share in the table.
-- max_share: largest allowed share of a sensitive value in a class, 0…1; missing values count as
--   one value; NULL means not measured.
-- exclude: columns that were left out; the release must not have them; NULL means the columns
--   declared in comments on the raw table.
-- series: state of the series that the release belongs to, as series_next has made it of the raw
--   table; NULL for none.
-- key: secret key of the series, as in anon_pseudonym.
-- unit: what must be protected: 'person', or 'row' if it is right that k counts rows although an
--   identifier repeats.
-- ordered: columns of type ENUM that the release had as ordered; t then uses the ordered distance;
--   NULL for none.
-- Returns: property, required, found (numbers), passed (BOOLEAN), example (labels, names of columns
--   or counts), meaning (what was found, in a sentence with its figures; no value and no label).
-- Errors: no quasi-identifier, one or a sensitive column that the release lacks, columns of other
--   types than a release has, raw and release swapped, an l, t, beta or delta without a sensitive
--   column, more rows than fit into memory; with previous, those of composition; with
--   series, those of series_next, and a raw table that is not the one of the state.
-- Example: SELECT * FROM audit('people', 'release', 2, quasi := ['age', 'city']);
CREATE OR REPLACE MACRO audit(
    raw, released, k := NULL, l := NULL, t := NULL, quasi := NULL, sensitive := NULL,
    identifiers := NULL, keep := NULL, l_kind := 'distinct', c := 3, hierarchy := NULL,
    entity := NULL, suppressed := 'keep', synthetic := 0, unique_share := 0, beta := NULL,
    delta := NULL, previous := NULL, previous_share := 0, beta_kind := 'enhanced',
    max_share := NULL, exclude := NULL, series := NULL, key := 'env:ANON_KEY', unit := 'person',
    ordered := NULL
) AS TABLE
-- A CTE is bound if it is named: without earlier releases and a series the others cost nothing.
WITH
__anon_alone AS NOT MATERIALIZED (
    SELECT
        NULL::VARCHAR AS property, NULL::DOUBLE AS required, NULL::DOUBLE AS found,
        NULL::BOOLEAN AS passed, NULL::VARCHAR AS example, NULL::VARCHAR AS meaning
    WHERE false),
__anon_together AS NOT MATERIALIZED (
    FROM __anon_earlier_properties(
        'audit', raw, released, previous, previous_share, l, synthetic, quasi, sensitive, keep,
        hierarchy, entity, __anon_series := series)),
__anon_of_cohorts AS NOT MATERIALIZED (
    FROM __anon_series_properties(
        raw, released, k, series, key, quasi, sensitive, identifiers, keep, exclude, hierarchy,
        entity))
FROM __anon_audited(
    raw, released, k, system.main.struct_pack(
        l := l, t := t, l_kind := l_kind, c := c, entity := entity, suppressed := suppressed,
        synthetic := synthetic, unique_share := unique_share, beta := beta, delta := delta,
        previous := previous, previous_share := previous_share, beta_kind := beta_kind,
        max_share := max_share, unit := unit, ordered := ordered),
    hierarchy, __anon_scope(raw, system.main.struct_pack(
        quasi := quasi, sensitive := sensitive, identifiers := identifiers, keep := keep,
        exclude := exclude, drops := __anon_entity_of(entity), whole := true)),
    __anon_series := series)
UNION ALL FROM query_table(if(__anon_all_named(previous), '__anon_together', '__anon_alone'))
UNION ALL FROM query_table(if(series IS NULL, '__anon_alone', '__anon_of_cohorts'));
