-- A k-anonymous release with the least information loss that the effort allows: classes of k to 2k
-- - 1 rows, chosen by their loss (NCP) and not by a distance. No row is suppressed unless
-- suppression_limit allows it. With format := 'mean' or 'median' the loss is the sum of squared
-- distances from the means of classes, of standardized columns (microaggregation).
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
--   as *, 'drop' leaves them out, and is refused where they are more than suppression_limit allows.
-- seed: seed of all random choices; only 'best' makes any, and all do with 'mean' and 'median'.
-- effort: 'fast' (an order of the rows, cut where the loss is least), 'good' (a better order, in
--   about three times the time) or 'best' (a search that starts from 'good').
-- time_limit: seconds that 'best' may search, without the time in which kernels are compiled.
--   rounds: number of rounds that it may search instead, without a time limit, so that the same
--   call gives the same release; NULL means time_limit.
-- hierarchy: name of a relation with attribute, value, level and label, whose columns are labelled
--   by nodes and scored by the leaves below them; NULL for none.
-- strata: quasi-identifiers that are not generalized; no class crosses their values.
-- weights: how much the loss of each quasi-identifier matters, such as MAP {'age': 2, 'city': 0.5};
--   1 for those that are left out.
-- suppression_limit: the share of the rows that may be suppressed, 0…1, where all rows together then
--   lose less, a suppressed one everything; NULL or 0 for none. anonymize_stats says what it saved.
-- previous, invariant, counterfeits: withdrawn; an error says why, and what to do meanwhile.
-- Returns: the columns of the source without the identifiers; quasi-identifiers are generalized.
-- Errors: a column without a role, no quasi-identifier, k above the number of rows, unknown columns
--   or options.
-- Example: SELECT * FROM anonymize('people', k := 2, qids := ['age', 'city'], sensitive := 'illness');
CREATE OR REPLACE MACRO anonymize(
    tbl, k := 5, qids := NULL, sensitive := NULL, identifiers := NULL, keep := NULL,
    l := 1, l_kind := 'distinct', c := 3, t := 1.0, entity := NULL,
    format := 'label', suppressed := 'keep', seed := 42,
    effort := 'good', time_limit := 30, rounds := NULL,
    hierarchy := NULL, beta := NULL, delta := NULL,
    strata := NULL, weights := NULL, suppression_limit := NULL, previous := NULL,
    invariant := NULL, counterfeits := NULL
) AS TABLE
FROM __anon_release(
    'anonymize', tbl, k, __anon_scope(
        tbl, qids, sensitive, identifiers, keep,
        __anon_entity := entity, __anon_l := l, __anon_t := t,
        __anon_beta := beta, __anon_delta := delta),
    format, system.main.struct_pack(
        format := format, suppressed := suppressed, seed := seed, l := l, l_kind := l_kind,
        c := c, t := t, beta := beta, delta := delta, strata := strata, weights := weights,
        effort := effort, time_limit := time_limit,
        rounds := rounds, suppression_limit := suppression_limit,
        previous := previous, invariant := invariant, counterfeits := counterfeits),
    __anon_hierarchy := hierarchy);
