-- A k-anonymous release by M-COF (Kara and Eyüpoğlu 2023): Mondrian's classes, from which outliers
-- are detected by COF and partitioned separately.
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
-- seed: no effect, because the method makes no random choice.
-- alpha: a row is an outlier if its COF is above mean + alpha standard deviations of its class.
-- partitioning: 'strict' or 'relaxed', as in mondrian.
-- repair: rule for a class that outliers would leave below k rows: 'cap' keeps as many of them as
--   needed, 'merge' merges the class into the nearest one.
-- unrecovered: rule for outliers that form no class of their own: 'return' to their class, or
--   'suppress'.
-- distance: 'gower', or 'codes' for the paper's Euclidean distance between scaled codes.
-- hierarchy: name of a relation with attribute, value, level and label, whose columns are labelled
--   by nodes; NULL for none.
-- threshold: a row is an outlier if its COF is above this number, and alpha has no effect; NULL
--   for the rule of alpha.
-- strata: quasi-identifiers that are not generalized; no class crosses their values.
-- weights: how much the loss of each quasi-identifier matters, such as MAP {'age': 2, 'city': 0.5};
--   1 for those that are left out.
-- Returns: the columns of the source without the identifiers; quasi-identifiers are generalized.
-- Errors: a column without a role, no quasi-identifier, k above the number of rows, unknown columns
--   or options.
-- Example: SELECT * FROM mondrian_cof('people', k := 2, qids := ['age', 'city'], sensitive := 'illness');
CREATE OR REPLACE MACRO mondrian_cof(
    tbl, k := 5, qids := NULL, sensitive := NULL, identifiers := NULL, keep := NULL,
    l := 1, l_kind := 'distinct', c := 3, t := 1.0, entity := NULL,
    format := 'label', suppressed := 'keep', seed := 42,
    alpha := 2.0, partitioning := 'strict', repair := 'cap', unrecovered := 'return',
    distance := 'gower',
    hierarchy := NULL, threshold := NULL, beta := NULL, delta := NULL,
    strata := NULL, weights := NULL
) AS TABLE
FROM __anon_release(
    'mondrian_cof', tbl, k, __anon_scope(
        tbl, qids, sensitive, identifiers, keep,
        __anon_entity := entity, __anon_l := l, __anon_t := t,
        __anon_beta := beta, __anon_delta := delta),
    format, system.main.struct_pack(
        format := format, suppressed := suppressed, seed := seed, l := l, l_kind := l_kind,
        c := c, t := t, beta := beta, delta := delta, strata := strata, weights := weights,
        alpha := alpha, partitioning := partitioning,
        repair := repair, unrecovered := unrecovered, distance := distance, threshold := threshold),
    __anon_hierarchy := hierarchy);
