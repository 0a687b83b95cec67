-- A k-anonymous release by k-member clustering: classes of k rows that cost one another least.
-- Time grows with the square of the number of rows.
--
-- tbl: name of the relation. k: smallest class, in rows. qids, sensitive, identifiers, keep:
--   column names; NULL means as declared in comments.
-- l: how diverse each sensitive column is in each class. l_kind: 'distinct' values, 'entropy' or
--   'recursive'. c: of 'recursive'. t: how far its values may be from the table's, 0…1.
-- entity: the column that says whose a row is; k, l and t then count persons, and it is dropped.
-- format: 'label' (text) or 'typed' (structs and lists). suppressed: 'keep' or 'drop'.
-- seed: the row it begins with.
-- hierarchy: name of a relation with attribute, value, level and label, whose columns are labelled
--   by nodes; NULL for none.
-- Returns: the source's columns less the identifiers, quasi-identifiers generalized.
-- Errors: no quasi-identifier, k above the number of rows, unknown columns or options.
-- Example: SELECT * FROM k_member('people', k := 2, qids := ['age', 'city']);
CREATE OR REPLACE MACRO k_member(
    tbl, k := 5, qids := NULL, sensitive := NULL, identifiers := NULL, keep := NULL,
    l := 1, l_kind := 'distinct', c := 3, t := 1.0, entity := NULL,
    format := 'label', suppressed := 'keep', seed := 42,
    hierarchy := NULL
) AS TABLE
FROM __anon_release(
    'k_member', tbl, k, __anon_scope(
        tbl, qids, sensitive, identifiers, keep,
        __anon_entity := entity, __anon_l := l, __anon_t := t),
    __anon_common(
        format, suppressed, seed,
        __anon_l := l, __anon_l_kind := l_kind, __anon_c := c, __anon_t := t), format, NULL,
    __anon_hierarchy := hierarchy);
