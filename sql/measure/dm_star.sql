-- Discernibility with the penalty of Bayardo and Agrawal (2005): a row costs the size of its
-- class, but a suppressed row, shown as * or left out of the release, the size of the raw table.
--
-- raw: name of the original table. released: name of its release, label or typed format.
-- qids: the quasi-identifiers; NULL means as declared in comments on the raw table.
-- hierarchy: the relation that the release was made with; NULL for none.
-- Returns: BIGINT; the number of rows at best, its square at worst.
-- Errors: no quasi-identifier, one that the release lacks, a label that cannot be read, raw and
--   release swapped.
-- Example: SELECT dm_star('people', 'release', qids := ['age', 'city']);
CREATE OR REPLACE MACRO dm_star(raw, released, qids := NULL, hierarchy := NULL) AS (
    SELECT __anon_dm_star
    FROM __anon_measured(
        'dm_star', raw, released, 5, 'share', __anon_measure_call(raw, qids, NULL),
        __anon_hierarchy := hierarchy)
);
