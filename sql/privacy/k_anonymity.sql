-- The k that a release has: the rows in its smallest equivalence class, where a class is all rows
-- with the same labels. Suppressed rows, shown as * or left out of the release, are one class.
--
-- raw: name of the original table. released: name of its release, label or typed format.
-- qids: the quasi-identifiers; NULL means as declared in comments on the raw table.
-- hierarchy: the relation that the release was made with; NULL for none.
-- Returns: BIGINT, in rows; NULL for an empty release.
-- Errors: no quasi-identifier, one that the release lacks, a label that cannot be read, raw and
--   release swapped.
-- Example: SELECT k_anonymity('people', 'release', qids := ['age', 'city']);
CREATE OR REPLACE MACRO k_anonymity(raw, released, qids := NULL, hierarchy := NULL) AS (
    SELECT __anon_smallest
    FROM __anon_measured(
        'k_anonymity', raw, released, 5, 'share', __anon_measure_call(raw, qids, NULL),
        __anon_hierarchy := hierarchy)
);
