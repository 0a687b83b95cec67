-- Global certainty penalty: the mean NCP over all rows and quasi-identifiers, which is the share of
-- information lost. The NCP of a number or date is the range of its label / the range in the raw
-- table. The NCP of text is 0 for one value.
-- Otherwise it is the number of values in its label / the number of values in the raw table, where
-- NULL counts as a value. A suppressed value has an NCP of
-- 1, a label of NULLs only an NCP of 0.
--
-- raw: name of the raw table. released: name of its release, in any format.
-- ncp: loss of text: 'share', or 'dop' for (values - 1) / (values in the raw table - 1).
-- quasi: the quasi-identifiers; NULL means the columns declared in comments on the raw table.
-- hierarchy: hierarchies that the release was made with; NULL for none.
-- weights: importance of each quasi-identifier in gcp, such as weights := MAP {'age': 2, 'city':
--   0.5}; columns left out have weight 1.
-- Returns: DOUBLE, 0…1; NULL for an empty raw table, for a release with more rows than its raw
--   table, in which added rows cannot be distinguished (use sdka_stats), and for one
--   of means or medians (use value_loss).
-- Errors: no quasi-identifier, one that the release lacks, a label that cannot be read, raw and
--   release swapped, an unknown ncp, weights that are not numbers of quasi-identifiers.
-- Example: SELECT gcp('people', 'release', quasi := ['age', 'city']);
CREATE OR REPLACE MACRO gcp(
    raw, released, ncp := 'share', quasi := NULL, hierarchy := NULL, weights := NULL
) AS (
    SELECT __anon_found.gcp
    FROM __anon_measures(
        'gcp', raw, released, quasi, hierarchy, __anon_ncp := ncp, __anon_adds := true,
        __anon_weights := weights)
);
