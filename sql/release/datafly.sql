-- A k-anonymous release by Datafly: whole columns go up their hierarchies, level by level, until
-- few rows stand out; those are suppressed.
--
-- tbl: name of the relation. k: smallest class, in rows. qids, sensitive, identifiers, keep:
--   column names; NULL means as declared in comments.
-- l: how diverse each sensitive column is in each class. l_kind: 'distinct' values, 'entropy' or
--   'recursive'. c: of 'recursive'. t: how far its values may be from the table's, 0…1.
-- entity: the column that says whose a row is; k, l and t then count persons, and it is dropped.
-- format: 'label' (text) or 'typed' (structs and lists). suppressed: 'keep' or 'drop'. Kept rows
--   that are too few to be shown as * together are joined by those of the smallest classes.
-- seed: without effect, nothing is random.
-- hierarchy: name of a relation with attribute, value, level and label.
-- suppression_limit: the rows that may be suppressed, as a share (0…1); NULL means k rows.
-- Returns: the source's columns less the identifiers, quasi-identifiers generalized.
-- Errors: a quasi-identifier without a hierarchy, k above the number of rows, a value that its
--   hierarchy lacks.
-- Example: SELECT * FROM datafly('people', k := 2, qids := ['age', 'city'], hierarchy := 'people_hierarchy');
CREATE OR REPLACE MACRO datafly(
    tbl, k := 5, qids := NULL, sensitive := NULL, identifiers := NULL, keep := NULL,
    l := 1, l_kind := 'distinct', c := 3, t := 1.0, entity := NULL,
    format := 'label', suppressed := 'keep', seed := 42, hierarchy := NULL,
    suppression_limit := NULL
) AS TABLE
FROM __anon_release(
    'datafly', tbl, k, __anon_scope(
        tbl, qids, sensitive, identifiers, keep,
        __anon_entity := entity, __anon_l := l, __anon_t := t),
    __anon_common(
        format, suppressed, seed,
        __anon_l := l, __anon_l_kind := l_kind, __anon_c := c, __anon_t := t), format, {'suppression_limit': suppression_limit},
    __anon_hierarchy := hierarchy);
