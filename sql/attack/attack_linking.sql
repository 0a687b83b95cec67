-- What an attacker learns who knows all quasi-identifiers of a person and that the person is in the
-- table: the rows that can be theirs, and their sensitive value where all of those rows share it
-- (Majeed and Hwang 2025). A row can be theirs where every label covers the person's value; labels
-- overlap, so that these are rows of several classes. Rows shown as * can be anybody's, and so can
-- those left out of the release: with either, a person is among as many.
--
-- raw: name of the original table. released: name of its release, label or typed format; one with
--   added rows is read too.
-- sensitive: a name or a list of names, besides those declared.
-- sample: at most so many persons are attacked, drawn by seed; NULL for all. seed: of the draw.
-- qids: the quasi-identifiers; NULL means as declared in comments on the raw table.
-- hierarchy: the relation that the release was made with; NULL for none.
-- Returns: a row per sensitive column: attribute, persons (attacked), linked (how many are found by
--   picking one of the matching rows, on average: the sum of 1 / matching rows), linked_share (of
--   persons), disclosed (how many have the value that all matching rows share; NULL is no value),
--   disclosed_share. Both shares are NULL where nobody is attacked.
-- Errors: no quasi-identifier or sensitive column, one that the release lacks, a label that cannot
--   be read, raw and release swapped, a sample below 1.
-- Example: SELECT * FROM attack_linking('people', 'release', 'illness', qids := ['age', 'city']);
CREATE OR REPLACE MACRO attack_linking(
    raw, released, sensitive := NULL, sample := 50000, seed := 42, qids := NULL, hierarchy := NULL
) AS TABLE
SELECT unnest(__anon_attack_linking(
    {'sample': sample, 'seed': seed, 'threads': current_setting('threads'),
     'sensitive': __anon_protects.sensitive, 'quasi': __anon_attributes,
     'rows': __anon_rows, 'shown': __anon_shown},
    __anon_types, __anon_people, __anon_shows, __anon_counted, __anon_trees), recursive := true)
FROM __anon_attacked(
    'attack_linking', raw, released, __anon_measure_call(raw, qids, sensitive), hierarchy);
