-- A k-anonymous release by top-down greedy splitting (Xu et al. 2006): each row joins the side
-- whose loss grows less. At worst the time grows with the square of the number of classes.
--
-- As in every release: tbl, k, quasi, sensitive, identifiers, keep, l, l_kind, c, t, entity,
--   format, seed, beta, delta, strata, weights, beta_kind, max_share, exclude, bin_width, ordered.
-- suppressed: 'keep' shows suppressed rows as *; 'drop' leaves them out. This function suppresses
--   no rows on request: 'drop' is refused if a class is * in every quasi-identifier.
-- hierarchy: relation that holds generalization hierarchies, with the columns attribute, value,
--   level and label; NULL for none. Columns in it are labelled by its nodes.
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
-- Example: SELECT * FROM top_down('people', k := 2, quasi := ['age', 'city'], sensitive := 'illness');
CREATE OR REPLACE MACRO top_down(
    tbl, k := 5, quasi := NULL, sensitive := NULL, identifiers := NULL, keep := NULL, l := 1,
    l_kind := 'distinct', c := 3, t := 1.0, entity := NULL, format := 'label', suppressed := 'keep',
    seed := 42, hierarchy := NULL, beta := NULL, delta := NULL, strata := NULL, weights := NULL,
    beta_kind := 'enhanced', max_share := NULL, exclude := NULL, bin_width := NULL, series := NULL,
    key := NULL, transparent := false, transparent_by := 'groups', ordered := NULL
) AS TABLE
FROM __anon_released(
    'top_down', tbl, k, __anon_scope(tbl, system.main.struct_pack(
        quasi := quasi, sensitive := sensitive, identifiers := identifiers, keep := keep, l := l,
        t := t, entity := entity, beta := beta, delta := delta, max_share := max_share,
        exclude := exclude)),
    format, system.main.struct_pack(
        l_kind := l_kind, c := c, format := format, suppressed := suppressed, seed := seed,
        strata := strata, weights := weights, beta_kind := beta_kind, bin_width := bin_width,
        transparent := transparent, transparent_by := transparent_by, ordered := ordered),
    hierarchy, entity, series, key);
