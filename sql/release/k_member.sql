-- A k-anonymous release by k-member clustering: classes of k rows that cost one another least.
-- Time grows with the square of the number of rows.
--
-- tbl: name of the relation. k: smallest class, in rows. qids, sensitive, identifiers, keep:
--   column names; NULL means as declared in comments.
-- format: 'label' (text) or 'typed' (structs and lists). suppressed: 'keep' or 'drop'.
-- seed: the row it begins with.
-- hierarchy: name of a relation with attribute, value, level and label, whose columns are labelled
--   by nodes; NULL for none.
-- Returns: the source's columns less the identifiers, quasi-identifiers generalized.
-- Errors: no quasi-identifier, k above the number of rows, unknown columns or options.
-- Example: SELECT * FROM k_member('people', k := 2, qids := ['age', 'city']);
CREATE OR REPLACE MACRO k_member(
    tbl, k := 5, qids := NULL, sensitive := NULL, identifiers := NULL, keep := NULL,
    format := 'label', suppressed := 'keep', seed := 42,
    hierarchy := NULL
) AS TABLE
FROM __anon_release(
    'k_member', tbl, k, __anon_scope(tbl, qids, sensitive, identifiers, keep),
    __anon_common(format, suppressed, seed), format, NULL,
    __anon_hierarchy := hierarchy);
