-- A release from a column of classes, labelled and checked like every release.
--
-- tbl: name of a relation with a column of class ids. k: smallest size of an equivalence class, in
--   rows.
-- qids, sensitive, identifiers, keep: column names; NULL means as declared in comments. Every
--   column needs a role; keep := ['*'] gives it to all others.
-- l: smallest diversity of each sensitive column in a class. l_kind: 'distinct' values, 'entropy'
--   or 'recursive'. c: the constant of 'recursive'. t: largest distance of a sensitive column's
--   distribution in a class from that in the table, 0…1.
-- beta: largest relative gain of a sensitive value's share in a class over that in the table, also
--   limited to -ln of the latter. delta: bound of |ln(share in a class / share in the table)| for
--   every sensitive value. NULL for none.
-- entity: column that identifies persons; k, l and t then count persons, and the column is dropped.
-- classes: the column of class ids; rows without a class id are suppressed.
-- format: 'label' (text), 'typed' (structs and lists), or 'mean' or 'median' (one value of each
--   class in place of a range of numbers, dates or times). suppressed: 'keep' shows suppressed rows
--   as *, 'drop' leaves out those without a class id, and is refused where a class is * in every
--   quasi-identifier.
-- hierarchy: name of a relation with attribute, value, level and label, whose columns are labelled
--   by nodes; NULL for none.
-- Returns: the columns of the source without the identifiers, the classes, cof and outlier;
--   quasi-identifiers are generalized.
-- Errors: a class of fewer than k rows, no such column of classes.
-- Example: SELECT * FROM generalize('classed', k := 2, qids := ['age', 'city'], sensitive := 'illness');
CREATE OR REPLACE MACRO generalize(
    tbl, k := 5, qids := NULL, classes := 'class_id', format := 'label',
    sensitive := NULL, identifiers := NULL, keep := NULL, suppressed := 'keep',
    l := 1, l_kind := 'distinct', c := 3, t := 1.0, entity := NULL,
    hierarchy := NULL, beta := NULL, delta := NULL
) AS TABLE
FROM __anon_release(
    'generalize', tbl, k,
    __anon_call_of(
        tbl, qids, sensitive, identifiers, keep, classes, ['cof', 'outlier'], false,
        __anon_entity := entity, __anon_l := l, __anon_t := t,
        __anon_beta := beta, __anon_delta := delta),
    format, system.main.struct_pack(
        format := format, suppressed := suppressed, seed := 0, l := l, l_kind := l_kind,
        c := c, t := t, beta := beta, delta := delta),
    __anon_hierarchy := hierarchy);
