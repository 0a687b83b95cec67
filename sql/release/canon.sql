-- A k-anonymous release of numeric quasi-identifiers by CANON (Canbay et al. 2022): the classes are
-- the leaves of a VP-tree.
--
-- tbl: name of the relation. k: smallest size of an equivalence class, in rows. qids, sensitive,
--   identifiers, keep: column names; NULL means as declared in comments. Every column needs a role;
--   keep := ['*'] gives it to all others.
-- l: smallest diversity of each sensitive column in a class. l_kind: 'distinct' values, 'entropy'
--   or 'recursive'. c: the constant of 'recursive'. t: largest distance of a sensitive column's
--   distribution in a class from that in the table, 0…1.
-- beta: largest relative gain of a sensitive value's share in a class over that in the table, also
--   limited to -ln of the latter. delta: bound of |ln(share in a class / share in the table)| for
--   every sensitive value. NULL for none.
-- entity: column that identifies persons; k, l and t then count persons, and the column is dropped.
-- format: 'label' (text), 'typed' (structs), or 'mean' or 'median' (one value of each class in
--   place of a range of numbers, dates or times). suppressed: 'keep' shows suppressed rows as *.
--   'drop' is refused where a class is * in every quasi-identifier, as no parameter asks for it.
-- seed: seed of all random choices.
-- vantage: choice of the vantage point, 'random', 'max_spread' or 'farthest'. cut: place of the
--   cut, 'median', 'balanced' or 'aligned'. tries: number of vantage points that are tried for a
--   median cut.
-- hierarchy: name of a relation with attribute, value, level and label; NULL for none. None of its
--   attributes may be a quasi-identifier, because the distance needs numbers.
-- strata: quasi-identifiers that are not generalized; no class crosses their values.
-- weights: how much the loss of each quasi-identifier matters, such as MAP {'age': 2, 'city': 0.5};
--   1 for those that are left out.
-- Returns: the columns of the source without the identifiers; quasi-identifiers are generalized.
-- Errors: a quasi-identifier that is text or has a hierarchy (use rayden), k above the number of
--   rows.
-- Example: SELECT * FROM canon('people', k := 2, qids := ['age'], keep := ['*']);
CREATE OR REPLACE MACRO canon(
    tbl, k := 5, qids := NULL, sensitive := NULL, identifiers := NULL, keep := NULL,
    l := 1, l_kind := 'distinct', c := 3, t := 1.0, entity := NULL,
    format := 'label', suppressed := 'keep', seed := 42,
    vantage := 'random', cut := 'median', tries := 8,
    hierarchy := NULL, beta := NULL, delta := NULL,
    strata := NULL, weights := NULL
) AS TABLE
FROM __anon_release(
    'canon', tbl, k, __anon_scope(
        tbl, qids, sensitive, identifiers, keep,
        __anon_entity := entity, __anon_l := l, __anon_t := t,
        __anon_beta := beta, __anon_delta := delta),
    format, system.main.struct_pack(
        format := format, suppressed := suppressed, seed := seed, l := l, l_kind := l_kind,
        c := c, t := t, beta := beta, delta := delta, strata := strata, weights := weights,
        vantage := vantage, cut := cut,
        tries := tries),
    __anon_hierarchy := hierarchy);
