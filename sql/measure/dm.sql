-- The discernibility metric: the sum of the squared sizes of the equivalence classes. A row counts
-- the size of its class; suppressed rows, shown as * or left out of the release, are one class.
--
-- raw: name of the raw table. released: name of its release, in any format.
-- quasi: the quasi-identifiers; NULL means the columns declared in comments on the raw table.
-- hierarchy: hierarchies that the release was made with; NULL for none.
-- Returns: BIGINT; the number of rows at best, its square at worst.
-- Errors: no quasi-identifier, one that the release lacks, a label that cannot be read, raw and
--   release swapped.
-- Example: SELECT dm('people', 'release', quasi := ['age', 'city']);
CREATE OR REPLACE MACRO dm(raw, released, quasi := NULL, hierarchy := NULL) AS (
    SELECT __anon_found.dm
    FROM __anon_measures('dm', raw, released, quasi, hierarchy)
);
