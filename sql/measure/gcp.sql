-- Global certainty penalty: the share of its information that a table has lost, which is the NCP
-- averaged over all rows and quasi-identifiers. The NCP of a number or date is the range of its
-- label / the range in the raw table; that of text is 0 for one value, else the values in its
-- label / the values in the raw table, where NULL counts as a value. A suppressed value loses 1,
-- a label of NULLs only loses 0.
--
-- raw: name of the original table. released: name of its release, label or typed format.
-- ncp: 'share', or 'dop' for (values - 1) / (values in the raw table - 1) in text.
-- qids: the quasi-identifiers; NULL means as declared in comments on the raw table.
-- hierarchy: the relation that the release was made with; NULL for none.
-- Returns: DOUBLE, 0…1; NULL for an empty raw table, and for a release with more rows than its raw
--   table, whose labels nobody can tell apart: sdka_stats has it.
-- Errors: no quasi-identifier, one that the release lacks, a label that cannot be read, raw and
--   release swapped, an unknown ncp.
-- Example: SELECT gcp('people', 'release', qids := ['age', 'city']);
CREATE OR REPLACE MACRO gcp(raw, released, ncp := 'share', qids := NULL, hierarchy := NULL) AS (
    SELECT if(__anon_shown > __anon_rows, NULL, __anon_gcp)
    FROM __anon_measured(
        'gcp', raw, released, 5, ncp, __anon_measure_call(raw, qids, NULL),
        __anon_hierarchy := hierarchy, __anon_adds := true)
);
