-- The classes with two or more sensitive values in which one value is far more frequent than the
-- others, so that an attacker guesses it (Li et al. 2007; Majeed and Hwang 2025). Classes with one
-- value are counted by attack_homogeneity. NULL is not a value: shares are those of the rows with a
-- value. Suppressed rows, shown as *, are a class; rows left out publish nothing.
--
-- raw: name of the raw table. released: name of its release, in any format. A release with added
--   rows is also read.
-- sensitive: sensitive column or list of columns, in addition to those declared.
-- threshold: a class is exposed if the share of one value in it exceeds this, 0…1. Above 0.5 a
--   guess is right for most of its rows; raise it if a value has a larger share in the whole table.
-- quasi: the quasi-identifiers; NULL means the columns declared in comments on the raw table.
-- hierarchy: hierarchies that the release was made with; NULL for none.
-- Returns: a row per sensitive column: attribute, classes, exposed_classes, class_share (0…1), rows
--   (of the release), exposed_rows (rows in exposed classes), row_share (0…1). Both shares are NULL
--   for an empty release.
-- Errors: no quasi-identifier or sensitive column, one that the release lacks, a label that cannot
--   be read, raw and release swapped, a threshold outside 0…1.
-- Example: SELECT * FROM attack_skewness('people', 'release', 'illness', threshold := 0.6, quasi := ['age', 'city']);
CREATE OR REPLACE MACRO attack_skewness(
    raw, released, sensitive := NULL, threshold := 0.5, quasi := NULL, hierarchy := NULL
) AS TABLE
WITH __anon_classed AS (
    FROM __anon_class_groups(
        released, raw, __anon_measure_call(raw, quasi, sensitive), 'sensitive')
)
SELECT system.main.unnest(__anon_attacks_exposed('attack_skewness', __anon_given, threshold), recursive := true)
FROM
    __anon_given(raw, released, __anon_measure_call(raw, quasi, sensitive), hierarchy, '__anon_classed');
