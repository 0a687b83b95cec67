-- A k-anonymous release of numeric quasi-identifiers by CANON: the leaves of a VP-tree.
--
-- tbl: name of the relation. k: smallest class, in rows. qids, sensitive, identifiers, keep:
--   column names; NULL means as declared in comments.
-- l: how diverse each sensitive column is in each class. l_kind: 'distinct' values, 'entropy' or
--   'recursive'. c: of 'recursive'. t: how far its values may be from the table's, 0…1.
-- entity: the column that says whose a row is; k, l and t then count persons, and it is dropped.
-- format: 'label' (text) or 'typed' (structs). suppressed: 'keep' or 'drop'.
-- seed: all randomness.
-- vantage: 'random', 'max_spread' or 'farthest'. cut: 'median', 'balanced' or 'aligned'.
-- tries: vantage points tried before a median cut is given up.
-- hierarchy: name of a relation with attribute, value, level and label; NULL for none. None of
--   its attributes may be a quasi-identifier: distances need numbers.
-- Returns: the source's columns less the identifiers, quasi-identifiers generalized.
-- Errors: a quasi-identifier that is text or has a hierarchy (use rayden), k above the number of rows.
-- Example: SELECT * FROM canon('people', k := 2, qids := ['age']);
CREATE OR REPLACE MACRO canon(
    tbl, k := 5, qids := NULL, sensitive := NULL, identifiers := NULL, keep := NULL,
    l := 1, l_kind := 'distinct', c := 3, t := 1.0, entity := NULL,
    format := 'label', suppressed := 'keep', seed := 42,
    vantage := 'random', cut := 'median', tries := 8,
    hierarchy := NULL
) AS TABLE
FROM __anon_release(
    'canon', tbl, k, __anon_scope(
        tbl, qids, sensitive, identifiers, keep,
        __anon_entity := entity, __anon_l := l, __anon_t := t),
    __anon_common(
        format, suppressed, seed,
        __anon_l := l, __anon_l_kind := l_kind, __anon_c := c, __anon_t := t), format,
    {'vantage': vantage, 'cut': cut, 'tries': tries},
    __anon_hierarchy := hierarchy);
