-- The average size of an equivalence class as a multiple of k; the minimum is 1. Suppressed rows
-- are not counted.
--
-- raw: name of the raw table. released: name of its release, in any format.
-- k: the k of the release, by which cavg divides.
-- quasi: the quasi-identifiers; NULL means the columns declared in comments on the raw table.
-- hierarchy: hierarchies that the release was made with; NULL for none.
-- Returns: DOUBLE; NULL if all rows are suppressed.
-- Errors: no quasi-identifier, one that the release lacks, a label that cannot be read, raw and
--   release swapped, k below 1.
-- Example: SELECT cavg('people', 'release', k := 5, quasi := ['age', 'city']);
CREATE OR REPLACE MACRO cavg(raw, released, k := 5, quasi := NULL, hierarchy := NULL) AS (
    SELECT __anon_found.cavg
    FROM __anon_measures('cavg', raw, released, quasi, hierarchy, __anon_k := k)
);
