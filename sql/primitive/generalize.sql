-- A release from your own column of classes, labelled and checked like every release.
--
-- As in every release: tbl, k, quasi, format, sensitive, identifiers, keep, l, l_kind, c, t,
--   entity, beta, delta, beta_kind, max_share, exclude, bin_width, ordered.
-- classes: column of class ids; a row without one is in no class.
-- suppressed: 'keep' shows suppressed rows as *; 'drop' leaves them out. Rows without a class id
--   are suppressed: 'drop' is refused if a class is * in every quasi-identifier for another reason.
-- hierarchy: relation that holds generalization hierarchies, with the columns attribute, value,
--   level and label; NULL for none. Columns in it are labelled by its nodes.
-- Returns: the columns of the source without the identifiers, the classes, cof and outlier;
--   quasi-identifiers are generalized.
-- Errors: a class of fewer than k rows, no such column of classes.
-- Example: SELECT * FROM generalize('classed', k := 2, quasi := ['age', 'city'], sensitive := 'illness');
CREATE OR REPLACE MACRO generalize(
    tbl, k := 5, quasi := NULL, classes := 'class_id', format := 'label', sensitive := NULL,
    identifiers := NULL, keep := NULL, suppressed := 'keep', l := 1, l_kind := 'distinct', c := 3,
    t := 1.0, entity := NULL, hierarchy := NULL, beta := NULL, delta := NULL,
    beta_kind := 'enhanced', max_share := NULL, exclude := NULL, bin_width := NULL, ordered := NULL
) AS TABLE
FROM __anon_release(
    'generalize', tbl, k,
    __anon_scope(tbl, system.main.struct_insert(system.main.struct_pack(
        quasi := quasi, classes := classes, sensitive := sensitive, identifiers := identifiers,
        keep := keep, l := l, t := t, entity := entity, beta := beta, delta := delta,
        max_share := max_share, exclude := exclude),
        drops := ['cof', 'outlier'])),
    format, system.main.struct_pack(
        format := format, suppressed := suppressed, l_kind := l_kind, c := c,
        beta_kind := beta_kind, bin_width := bin_width, ordered := ordered),
    __anon_hierarchy := hierarchy);
