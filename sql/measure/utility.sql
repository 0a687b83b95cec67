-- The measures of a release in one row: rows, classes and information loss.
--
-- raw: name of the raw table. released: name of its release, in any format.
-- k: the k of the release, by which cavg divides.
-- quasi: the quasi-identifiers; NULL means the columns declared in comments on the raw table.
-- hierarchy: hierarchies that the release was made with; NULL for none.
-- weights: importance of each quasi-identifier in gcp, such as weights := MAP {'age': 2, 'city':
--   0.5}; columns left out have weight 1.
-- Returns: one row: rows (of the raw table), released_rows, suppressed (rows shown as * or left
--   out), classes (without the suppressed rows), smallest_class (with the suppressed rows as one
--   class, as in k_anonymity), dm, dm_star, cavg, gcp, iloss, suppression_rate, each as in the function
--   of that name.
-- Errors: no quasi-identifier, one that the release lacks, a label that cannot be read, raw and
--   release swapped, k below 1.
-- Example: SELECT * FROM utility('people', 'release', k := 5, quasi := ['age', 'city']);
CREATE OR REPLACE MACRO utility(
    raw, released, k := 5, quasi := NULL, hierarchy := NULL, weights := NULL
) AS TABLE
FROM __anon_utility('utility', raw, released, k, quasi, hierarchy, weights);
