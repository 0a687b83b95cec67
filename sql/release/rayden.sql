-- A k-anonymous release by RAYDEN (Haruna et al. 2026): the classes are the leaves of a VP-tree,
-- from which outliers are detected by COF and partitioned separately.
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
-- format: 'label' (text), 'typed' (structs and lists), or 'mean' or 'median' (one value of each
--   class in place of a range of numbers, dates or times). suppressed: 'keep' shows suppressed rows
--   as *, 'drop' leaves out those of unrecovered := 'suppress', and is refused where a class is * in
--   every quasi-identifier.
-- seed: seed of all random choices.
-- alpha: a row is an outlier if its COF is above mean + alpha standard deviations of its class.
-- vantage: choice of the vantage point, 'random', 'max_spread' or 'farthest'. cut: place of the
--   cut, 'balanced', 'median' or 'aligned'. tries: number of vantage points that are tried for a
--   median cut.
-- repair: rule for a class that outliers would leave below k rows: 'cap' keeps as many of them as
--   needed, 'merge' merges the class into the nearest one.
-- variant: definition of COF, 'rayden', 'tang' (the original) or 'pyod'.
-- unrecovered: rule for outliers that form no class of their own: 'return' to their class, or
--   'suppress'.
-- hierarchy: name of a relation with attribute, value, level and label, whose columns are labelled
--   by nodes and have distance 0 or 1, also if they are numeric; NULL for none.
-- threshold: a row is an outlier if its COF is above this number, and alpha has no effect; NULL
--   for the rule of alpha.
-- strata: quasi-identifiers that are not generalized; no class crosses their values.
-- weights: how much the loss of each quasi-identifier matters, such as MAP {'age': 2, 'city': 0.5};
--   1 for those that are left out.
-- Returns: the columns of the source without the identifiers; quasi-identifiers are generalized.
-- Errors: a column without a role, no quasi-identifier, k above the number of rows, unknown columns
--   or options.
-- Example: SELECT * FROM rayden('people', k := 2, qids := ['age', 'city'], sensitive := 'illness');
CREATE OR REPLACE MACRO rayden(
    tbl, k := 5, qids := NULL, sensitive := NULL, identifiers := NULL, keep := NULL,
    l := 1, l_kind := 'distinct', c := 3, t := 1.0, entity := NULL,
    format := 'label', suppressed := 'keep', seed := 42,
    alpha := 2.0, vantage := 'random', cut := 'balanced', tries := 8,
    repair := 'cap', variant := 'rayden', unrecovered := 'return',
    hierarchy := NULL, threshold := NULL, beta := NULL, delta := NULL,
    strata := NULL, weights := NULL
) AS TABLE
FROM __anon_release(
    'rayden', tbl, k, __anon_scope(
        tbl, qids, sensitive, identifiers, keep,
        __anon_entity := entity, __anon_l := l, __anon_t := t,
        __anon_beta := beta, __anon_delta := delta),
    format, system.main.struct_pack(
        format := format, suppressed := suppressed, seed := seed, l := l, l_kind := l_kind,
        c := c, t := t, beta := beta, delta := delta, strata := strata, weights := weights,
        alpha := alpha, vantage := vantage,
        cut := cut, tries := tries, repair := repair, variant := variant,
        unrecovered := unrecovered, threshold := threshold),
    __anon_hierarchy := hierarchy);
