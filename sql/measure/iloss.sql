-- Information loss of Byun et al. (2007): the width of the labels, summed over all rows and
-- quasi-identifiers. A number or date loses the range of its label / the range in the raw table.
-- Text loses 0 for one value and 1 for several; with a hierarchy, the height of its node / the
-- height of the hierarchy. A suppressed value loses 1, a label of NULLs only loses 0.
--
-- raw: name of the raw table. released: name of its release, in any format.
-- quasi: the quasi-identifiers; NULL means the columns declared in comments on the raw table.
-- hierarchy: hierarchies that the release was made with; NULL for none.
-- Returns: DOUBLE, 0 to rows * quasi-identifiers; NULL for a release with more rows than its raw
--   table, in which added rows cannot be distinguished (use sdka_stats), and for one of means or
--   medians (use value_loss).
-- Errors: no quasi-identifier, one that the release lacks, a label that cannot be read, raw and
--   release swapped.
-- Example: SELECT iloss('people', 'release', quasi := ['age', 'city']);
CREATE OR REPLACE MACRO iloss(raw, released, quasi := NULL, hierarchy := NULL) AS (
    SELECT __anon_found.iloss
    FROM __anon_measures('iloss', raw, released, quasi, hierarchy, __anon_adds := true)
);
