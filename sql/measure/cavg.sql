-- The average size of an equivalence class as a multiple of k: 1 is the best there is. Suppressed
-- rows are left out.
--
-- raw: name of the original table. released: name of its release, label or typed format.
-- k: the k that the release was made with, in rows.
-- qids: the quasi-identifiers; NULL means as declared in comments on the raw table.
-- hierarchy: the relation that the release was made with; NULL for none.
-- Returns: DOUBLE; NULL where no row is left.
-- Errors: no quasi-identifier, one that the release lacks, a label that cannot be read, raw and
--   release swapped, k below 1.
-- Example: SELECT cavg('people', 'release', k := 5, qids := ['age', 'city']);
CREATE OR REPLACE MACRO cavg(raw, released, k := 5, qids := NULL, hierarchy := NULL) AS (
    SELECT __anon_cavg
    FROM __anon_measured(
        'cavg', raw, released, k, 'share', __anon_measure_call(raw, qids, NULL),
        __anon_hierarchy := hierarchy)
);
