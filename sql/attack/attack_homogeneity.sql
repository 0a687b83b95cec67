-- What an attacker learns from classes that have one sensitive value: whoever is in one has it
-- (Machanavajjhala et al. 2006; Majeed and Hwang 2025). NULL is no value and hides none: a class
-- of one value and NULLs is exposed, a class of NULLs too. So a release with l_diversity of 2 and
-- more has none. Suppressed rows, shown as *, are a class; rows left out publish nothing.
--
-- raw: name of the original table. released: name of its release, label or typed format; one with
--   added rows is read too.
-- sensitive: a name or a list of names, besides those declared.
-- qids: the quasi-identifiers; NULL means as declared in comments on the raw table.
-- hierarchy: the relation that the release was made with; NULL for none.
-- Returns: a row per sensitive column: attribute, classes, exposed_classes, class_share (0…1), rows
--   (of the release), exposed_rows (those in exposed classes), row_share (0…1). Both shares are
--   NULL for an empty release.
-- Errors: no quasi-identifier or sensitive column, one that the release lacks, a label that cannot
--   be read, raw and release swapped.
-- Example: SELECT * FROM attack_homogeneity('people', 'release', 'illness', qids := ['age', 'city']);
CREATE OR REPLACE MACRO attack_homogeneity(
    raw, released, sensitive := NULL, qids := NULL, hierarchy := NULL
) AS TABLE
WITH
__anon_numbered AS MATERIALIZED (
    FROM __anon_sensitive_classes(raw, released, __anon_measure_call(raw, qids, sensitive))),
__anon_asked AS MATERIALIZED (
    FROM __anon_protected(
        'attack_homogeneity', raw, released, __anon_measure_call(raw, qids, sensitive), hierarchy,
        '__anon_numbered', 'distinct', 3, true)),
__anon_counts AS (FROM __anon_sensitive_counts('__anon_numbered')),
__anon_judged AS (
    SELECT *, __anon_values < 2 AS __anon_exposed
    FROM __anon_class_values('__anon_asked', '__anon_counts')
)
FROM __anon_exposures('__anon_judged');
