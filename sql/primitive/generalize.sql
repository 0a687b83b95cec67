-- A release from classes of your own, labelled and checked like every release.
--
-- tbl: name of a relation with a column of class ids. k: smallest class, in rows.
-- qids, sensitive, identifiers, keep: column names; NULL means as declared in comments.
-- l: how diverse each sensitive column is in each class. l_kind: 'distinct' values, 'entropy' or
--   'recursive'. c: of 'recursive'. t: how far its values may be from the table's, 0…1.
-- entity: the column that says whose a row is; k, l and t then count persons, and it is dropped.
-- classes: the column of class ids; rows where it is NULL are suppressed.
-- format: 'label' (text) or 'typed' (structs and lists). suppressed: 'keep' or 'drop'.
-- hierarchy: name of a relation with attribute, value, level and label, whose columns are labelled
--   by nodes; NULL for none.
-- Returns: the source's columns less the identifiers, the classes, cof and outlier;
--   quasi-identifiers generalized.
-- Errors: a class of fewer than k rows, no such column of classes.
-- Example: SELECT * FROM generalize('classed', k := 2, qids := ['age', 'city']);
CREATE OR REPLACE MACRO generalize(
    tbl, k := 5, qids := NULL, classes := 'class_id', format := 'label',
    sensitive := NULL, identifiers := NULL, keep := NULL, suppressed := 'keep',
    l := 1, l_kind := 'distinct', c := 3, t := 1.0, entity := NULL,
    hierarchy := NULL
) AS TABLE
FROM __anon_release(
    'generalize', tbl, k,
    __anon_call_of(
        tbl, qids, sensitive, identifiers, keep, classes, ['cof', 'outlier'], false,
        __anon_entity := entity, __anon_l := l, __anon_t := t),
    __anon_common(
        format, suppressed, 0,
        __anon_l := l, __anon_l_kind := l_kind, __anon_c := c, __anon_t := t), format, NULL,
    __anon_hierarchy := hierarchy);
