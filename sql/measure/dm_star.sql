-- The discernibility metric with the penalty of Bayardo and Agrawal (2005): a row counts the size
-- of its class; a suppressed row, shown as * or left out of the release, counts the size of the raw
-- table.
--
-- raw: name of the raw table. released: name of its release, in any format.
-- quasi: the quasi-identifiers; NULL means the columns declared in comments on the raw table.
-- hierarchy: hierarchies that the release was made with; NULL for none.
-- Returns: BIGINT; the number of rows at best, its square at worst.
-- Errors: no quasi-identifier, one that the release lacks, a label that cannot be read, raw and
--   release swapped.
-- Example: SELECT dm_star('people', 'release', quasi := ['age', 'city']);
CREATE OR REPLACE MACRO dm_star(raw, released, quasi := NULL, hierarchy := NULL) AS (
    SELECT __anon_found.dm_star
    FROM __anon_measures('dm_star', raw, released, quasi, hierarchy)
);
