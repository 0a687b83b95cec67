-- A k-anonymous release that loses as little information as the effort allows: classes of k to 2k -
-- 1 rows, chosen by their loss (NCP) and not by a distance. No row is suppressed unless
-- suppression_limit allows it. With format := 'mean' or 'median' the loss is the sum of squared
-- distances from the class means, over standardized columns (microaggregation).
--
-- As in every release: tbl, k, quasi, sensitive, identifiers, keep, l, l_kind, c, t, entity,
--   format, beta, delta, strata, weights, beta_kind, max_share, exclude, bin_width, ordered.
-- suppressed: 'keep' shows suppressed rows as *; 'drop' leaves them out. 'drop' is refused if more
--   rows are suppressed than suppression_limit allows.
-- seed: seed for random choices. Only effort 'best' makes any; with 'mean' or 'median', every
--   effort does.
-- effort: search effort: 'fast', 'good' (about three times as long) or 'best' (continues from the
--   result of 'good'). A higher effort loses less information.
-- time_limit: seconds that 'best' may search, not counting the compilation of kernels.
-- rounds: number of rounds that 'best' searches, without a time limit, so that the same call gives
--   the same release; NULL means as many as time_limit allows.
-- hierarchy: relation that holds generalization hierarchies, with the columns attribute, value,
--   level and label; NULL for none. Columns in it are labelled by its nodes and scored by the
--   leaves below them.
-- suppression_limit: largest share of rows to suppress, 0…1, where that lowers the loss of all rows
--   (a suppressed row loses 1); anonymize_stats shows what it saved; NULL for none.
-- series: state of a series that series_next has made of this table; the release then consists of
--   its cohorts, the rows of former members included; without a key, that of the series is
--   'env:ANON_KEY'; NULL for none.
-- key: secret key, as in anon_pseudonym: random choices depend on it and on the seed, and cannot be
--   repeated without it; NULL for none.
-- transparent: true makes classes that tell no more than the constraints allow, even to an attacker
--   who knows the method and all parameters except the key; no value has a share above 1/l.
-- transparent_by: how: 'groups' divides rows into groups whose values can be exchanged; 'size'
--   makes larger and larger classes without looking at values until all satisfy the constraints, so
--   that they tell one number, but it bounds no share.
-- Returns: the columns of the source without the identifiers; quasi-identifiers are generalized.
-- Errors: a column without a role, no quasi-identifier, k above the number of rows, unknown columns
--   or options.
-- Example: SELECT * FROM anonymize('people', k := 2, quasi := ['age', 'city'], sensitive := 'illness');
CREATE OR REPLACE MACRO anonymize(
    tbl, k := 5, quasi := NULL, sensitive := NULL, identifiers := NULL, keep := NULL, l := 1,
    l_kind := 'distinct', c := 3, t := 1.0, entity := NULL, format := 'label', suppressed := 'keep',
    seed := 42, effort := 'good', time_limit := 30, rounds := NULL, hierarchy := NULL, beta := NULL,
    delta := NULL, strata := NULL, weights := NULL, suppression_limit := NULL,
    beta_kind := 'enhanced', max_share := NULL, exclude := NULL, series := NULL, key := NULL,
    bin_width := NULL, transparent := false, transparent_by := 'groups', ordered := NULL
) AS TABLE
FROM __anon_released(
    'anonymize', tbl, k, __anon_scope(tbl, system.main.struct_pack(
        quasi := quasi, sensitive := sensitive, identifiers := identifiers, keep := keep, l := l,
        t := t, entity := entity, beta := beta, delta := delta, max_share := max_share,
        exclude := exclude)),
    format, system.main.struct_pack(
        l_kind := l_kind, c := c, format := format, suppressed := suppressed, seed := seed,
        effort := effort, time_limit := time_limit, rounds := rounds, strata := strata,
        weights := weights, suppression_limit := suppression_limit, beta_kind := beta_kind,
        bin_width := bin_width, transparent := transparent, transparent_by := transparent_by,
        ordered := ordered),
    hierarchy, entity, series, key);
