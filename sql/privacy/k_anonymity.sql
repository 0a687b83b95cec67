-- The k of a release: the number of rows in its smallest equivalence class, where a class is all
-- rows with the same labels. Suppressed rows, shown as * or left out of the release, are one class.
--
-- raw: name of the raw table. released: name of its release, in any format. Without it, the first
--   table is measured as it is: its cells are values, not labels.
-- quasi: quasi-identifiers; NULL means the columns declared in comments on the raw table.
-- hierarchy: hierarchies that the release was made with; NULL for none.
-- Returns: BIGINT, in rows; NULL for an empty release.
-- Errors: no quasi-identifier, one that the release lacks, a label that cannot be read, raw and
--   release swapped.
-- Example: SELECT k_anonymity('people', 'release', quasi := ['age', 'city']);
CREATE OR REPLACE MACRO k_anonymity(raw, released := NULL, quasi := NULL, hierarchy := NULL) AS (
    SELECT __anon_found.smallest_class
    FROM __anon_measures(
        'k_anonymity', raw, coalesce(released, raw), quasi, hierarchy,
        __anon_is_alone := released IS NULL)
);
