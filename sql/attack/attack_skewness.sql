-- What an attacker learns from classes that have two sensitive values or more, one of them far more
-- often than the others (Li et al. 2007; Majeed and Hwang 2025): he guesses that one. Classes with
-- one value are what attack_homogeneity counts. NULL is no value: shares are of the rows that have
-- one. Suppressed rows, shown as *, are a class; rows left out publish nothing.
--
-- raw: name of the original table. released: name of its release, label or typed format; one with
--   added rows is read too.
-- sensitive: a name or a list of names, besides those declared.
-- threshold: a class is exposed where one value has a larger share, 0…1. At 0.5 the guess is right
--   more often than not; a value that is more frequent than that in the table asks for more.
-- qids: the quasi-identifiers; NULL means as declared in comments on the raw table.
-- hierarchy: the relation that the release was made with; NULL for none.
-- Returns: a row per sensitive column: attribute, classes, exposed_classes, class_share (0…1), rows
--   (of the release), exposed_rows (those in exposed classes), row_share (0…1). Both shares are
--   NULL for an empty release.
-- Errors: no quasi-identifier or sensitive column, one that the release lacks, a label that cannot
--   be read, raw and release swapped, a threshold outside 0…1.
-- Example: SELECT * FROM attack_skewness('people', 'release', 'illness', threshold := 0.6, qids := ['age', 'city']);
CREATE OR REPLACE MACRO attack_skewness(
    raw, released, sensitive := NULL, threshold := 0.5, qids := NULL, hierarchy := NULL
) AS TABLE
WITH
__anon_numbered AS MATERIALIZED (
    FROM __anon_sensitive_classes(raw, released, __anon_measure_call(raw, qids, sensitive))),
__anon_asked AS MATERIALIZED (
    SELECT *, __anon_measure_threshold('attack_skewness', threshold) AS __anon_threshold
    FROM __anon_protected(
        'attack_skewness', raw, released, __anon_measure_call(raw, qids, sensitive), hierarchy,
        '__anon_numbered', 'distinct', 3, true)),
__anon_counts AS (FROM __anon_sensitive_counts('__anon_numbered')),
__anon_judged AS (
    SELECT
        __anon_each.*,
        __anon_values > 1 AND __anon_most / __anon_held > __anon_threshold AS __anon_exposed
    FROM __anon_class_values('__anon_asked', '__anon_counts') AS __anon_each, __anon_asked
)
FROM __anon_exposures('__anon_judged');
