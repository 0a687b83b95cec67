-- A k-anonymous release by OKA: one pass of k-means, then large classes give rows to small ones.
-- Time grows with the square of the number of rows, divided by k.
--
-- tbl: name of the relation. k: smallest class, in rows. qids, sensitive, identifiers, keep:
--   column names; NULL means as declared in comments.
-- format: 'label' (text) or 'typed' (structs and lists). suppressed: 'keep' or 'drop'.
-- seed: all randomness.
-- hierarchy: name of a relation with attribute, value, level and label, whose columns are labelled
--   by nodes; NULL for none.
-- Returns: the source's columns less the identifiers, quasi-identifiers generalized.
-- Errors: no quasi-identifier, k above the number of rows, unknown columns or options.
-- Example: SELECT * FROM oka('people', k := 2, qids := ['age', 'city']);
CREATE OR REPLACE MACRO oka(
    tbl, k := 5, qids := NULL, sensitive := NULL, identifiers := NULL, keep := NULL,
    format := 'label', suppressed := 'keep', seed := 42,
    hierarchy := NULL
) AS TABLE
FROM __anon_release(
    'oka', tbl, k, __anon_scope(tbl, qids, sensitive, identifiers, keep),
    __anon_common(format, suppressed, seed), format, NULL,
    __anon_hierarchy := hierarchy);
