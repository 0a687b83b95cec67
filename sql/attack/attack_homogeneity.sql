-- The classes with a single sensitive value, which disclose the value of every member
-- (Machanavajjhala et al. 2006; Majeed and Hwang 2025). NULL is not a value and hides none: a class
-- of one value and NULLs is exposed, and so is a class of NULLs. A release with l_diversity of 2 or
-- more has no exposed class. Suppressed rows, shown as *, are a class; rows left out publish
-- nothing.
--
-- raw: name of the raw table. released: name of its release, in any format. A release with added
--   rows is also read.
-- sensitive: sensitive column or list of columns, in addition to those declared.
-- quasi: the quasi-identifiers; NULL means the columns declared in comments on the raw table.
-- hierarchy: hierarchies that the release was made with; NULL for none.
-- Returns: a row per sensitive column: attribute, classes, exposed_classes, class_share (0…1), rows
--   (of the release), exposed_rows (rows in exposed classes), row_share (0…1). Both shares are NULL
--   for an empty release.
-- Errors: no quasi-identifier or sensitive column, one that the release lacks, a label that cannot
--   be read, raw and release swapped.
-- Example: SELECT * FROM attack_homogeneity('people', 'release', 'illness', quasi := ['age', 'city']);
CREATE OR REPLACE MACRO attack_homogeneity(
    raw, released, sensitive := NULL, quasi := NULL, hierarchy := NULL
) AS TABLE
WITH __anon_classed AS (
    FROM __anon_class_groups(
        released, raw, __anon_measure_call(raw, quasi, sensitive), 'sensitive')
)
SELECT system.main.unnest(__anon_attacks_exposed('attack_homogeneity', __anon_given, NULL), recursive := true)
FROM
    __anon_given(raw, released, __anon_measure_call(raw, quasi, sensitive), hierarchy, '__anon_classed');
