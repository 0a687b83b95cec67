-- A k-anonymous release by basic Mondrian: classes are cut along hierarchies, the widest column
-- first. A number without a hierarchy is cut at its median, text into its values.
--
-- tbl: name of the relation. k: smallest class, in rows. qids, sensitive, identifiers, keep:
--   column names; NULL means as declared in comments.
-- format: 'label' (text) or 'typed' (structs and lists). suppressed: 'keep' or 'drop'.
-- seed: without effect, nothing is random.
-- hierarchy: name of a relation with attribute, value, level and label; NULL for none.
-- Returns: the source's columns less the identifiers, quasi-identifiers generalized.
-- Errors: no quasi-identifier, k above the number of rows, a value that its hierarchy lacks.
-- Example: SELECT * FROM basic_mondrian('people', k := 2, qids := ['age', 'city'], hierarchy := 'people_hierarchy');
CREATE OR REPLACE MACRO basic_mondrian(
    tbl, k := 5, qids := NULL, sensitive := NULL, identifiers := NULL, keep := NULL,
    format := 'label', suppressed := 'keep', seed := 42, hierarchy := NULL
) AS TABLE
FROM __anon_release(
    'basic_mondrian', tbl, k, __anon_scope(tbl, qids, sensitive, identifiers, keep),
    __anon_common(format, suppressed, seed), format, NULL, __anon_hierarchy := hierarchy);
