-- How often an attacker guesses the sensitive value of a person if the attacker knows some of the
-- person's quasi-identifiers and guesses the most frequent value among the matching rows (Majeed
-- and Hwang 2025). The known quasi-identifiers are drawn for each person. A row matches if its
-- labels cover the known values; a row shown as * matches every person. Labels overlap.
--
-- raw: name of the raw table. released: name of its release, in label or typed format. A release
--   with added rows is also read.
-- sensitive: sensitive column or list of columns, in addition to those declared.
-- known: number of a person's quasi-identifiers that the attacker knows, from 0 to all.
-- sample: maximum number of people attacked, drawn at random by seed; NULL means all.
-- seed: seed for random choices.
-- quasi: the quasi-identifiers; NULL means the columns declared in comments on the raw table.
-- hierarchy: hierarchies that the release was made with; NULL for none.
-- mode: 'matching', or 'majority' for an attacker who knows which class each released row is in.
--   That attacker guesses the most frequent value of the class, as the program of the paper's
--   authors does; known, sample and seed then have no effect.
-- Returns: a row per sensitive column: attribute, persons (attacked; with 'majority' all rows of
--   the release), guessed (number of correct guesses; several most frequent values are guessed
--   equally often), guessed_share (of people), baseline (the same share without any knowledge;
--   only the part above it is due to the knowledge of the attacker). A value that is NULL is never
--   guessed. Both shares are NULL if no one is attacked.
-- Errors: no quasi-identifier or sensitive column, one that the release lacks, a label that cannot
--   be read, raw and release swapped, a sample below 1, more known than there are, an unknown mode.
-- Example: SELECT * FROM attack_background('people', 'release', 'illness', known := 1, quasi := ['age', 'city']);
CREATE OR REPLACE MACRO attack_background(
    raw, released, sensitive := NULL, known := 2, sample := 50000, seed := 42, quasi := NULL,
    hierarchy := NULL, mode := 'matching'
) AS TABLE
WITH __anon_classed AS (
    FROM __anon_class_groups(
        released, raw, __anon_measure_call(raw, quasi, sensitive), 'sensitive')
)
SELECT system.main.unnest(__anon_attacks_guessed(
    __anon_given, __anon_persons, system.main.struct_pack(
        known := known, sample := sample, seed := seed, mode := mode),
    system.main.current_setting('threads')), recursive := true)
FROM
    __anon_given(raw, released, __anon_measure_call(raw, quasi, sensitive), hierarchy, '__anon_classed'),
    (SELECT __anon_groups AS __anon_persons FROM __anon_class_groups(
        raw, released, __anon_measure_call(raw, quasi, sensitive), 'sensitive'));
