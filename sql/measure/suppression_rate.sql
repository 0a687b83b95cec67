-- The share of the raw table's rows that are suppressed: shown as * in every quasi-identifier, or
-- left out of the release.
--
-- raw: name of the raw table. released: name of its release, in any format.
-- quasi: the quasi-identifiers; NULL means the columns declared in comments on the raw table.
-- hierarchy: hierarchies that the release was made with; NULL for none.
-- Returns: DOUBLE, 0…1; NULL for an empty raw table.
-- Errors: no quasi-identifier, one that the release lacks, a label that cannot be read, raw and
--   release swapped.
-- Example: SELECT suppression_rate('people', 'release', quasi := ['age', 'city']);
CREATE OR REPLACE MACRO suppression_rate(raw, released, quasi := NULL, hierarchy := NULL) AS (
    SELECT __anon_found.suppression_rate
    FROM __anon_measures('suppression_rate', raw, released, quasi, hierarchy)
);
