-- The people whose sensitive value is disclosed to an attacker who knows all their
-- quasi-identifiers and that they are in the table: the matching rows, and the sensitive value if
-- all of them share it (Majeed and Hwang 2025). A row matches if every label covers the person's
-- value. Labels overlap, so matching rows may be in several classes. Rows shown as * match every
-- person, and so do rows left out of the release: both add the same number of matching rows.
--
-- raw: name of the raw table. released: name of its release, in label or typed format. A release
--   with added rows is also read.
-- sensitive: sensitive column or list of columns, in addition to those declared.
-- sample: maximum number of people attacked, drawn at random by seed; NULL means all.
-- seed: seed for random choices.
-- quasi: the quasi-identifiers; NULL means the columns declared in comments on the raw table.
-- hierarchy: hierarchies that the release was made with; NULL for none.
-- Returns: a row per sensitive column: attribute, persons (attacked), reidentified (expected number found
--   by choosing one matching row at random, the sum of 1 / matching rows), reidentified_share (of
--   people), disclosed (people with the value that all matching rows share; NULL is not a value),
--   disclosed_share. Both shares are NULL if no one is attacked.
-- Errors: no quasi-identifier or sensitive column, one that the release lacks, a label that cannot
--   be read, raw and release swapped, a sample below 1.
-- Example: SELECT * FROM attack_linking('people', 'release', 'illness', quasi := ['age', 'city']);
CREATE OR REPLACE MACRO attack_linking(
    raw, released, sensitive := NULL, sample := 50000, seed := 42, quasi := NULL, hierarchy := NULL
) AS TABLE
WITH __anon_classed AS (
    FROM __anon_class_groups(
        released, raw, __anon_measure_call(raw, quasi, sensitive), 'sensitive')
)
SELECT system.main.unnest(__anon_attacks_linked(
    __anon_given, __anon_persons, system.main.struct_pack(sample := sample, seed := seed),
    system.main.current_setting('threads')), recursive := true)
FROM
    __anon_given(raw, released, __anon_measure_call(raw, quasi, sensitive), hierarchy, '__anon_classed'),
    (SELECT __anon_groups AS __anon_persons FROM __anon_class_groups(
        raw, released, __anon_measure_call(raw, quasi, sensitive), 'sensitive'));
