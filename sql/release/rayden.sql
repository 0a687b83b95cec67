-- A k-anonymous release by RAYDEN (Haruna et al. 2026): the classes are the leaves of a VP-tree,
-- from which outliers are detected by COF and partitioned separately.
--
-- As in every release: tbl, k, quasi, sensitive, identifiers, keep, l, l_kind, c, t, entity,
--   format, seed, beta, delta, strata, weights, beta_kind, max_share, exclude, bin_width, ordered.
-- suppressed: 'keep' shows suppressed rows as *; 'drop' leaves them out. Rows are suppressed only
--   by unrecovered := 'suppress': 'drop' is refused if a class is * in every quasi-identifier for
--   another reason.
-- alpha: a row is an outlier if its COF exceeds the mean of its class by more than alpha standard
--   deviations.
-- vantage: how to choose the vantage point: 'random', 'max_spread' or 'farthest'.
-- cut: where to cut: 'balanced', 'median' or 'aligned'.
-- tries: number of vantage points tried for a median cut.
-- repair: what to do if a class without its outliers has fewer than k rows: 'cap' keeps as many of
--   them as needed, 'merge' merges the class into the nearest one.
-- variant: definition of COF: 'rayden', 'tang' (the original) or 'pyod'.
-- unrecovered: what to do with outliers that form no class of their own: 'return' them to their
--   class, or 'suppress' them.
-- hierarchy: relation that holds generalization hierarchies, with the columns attribute, value,
--   level and label; NULL for none. Columns in it are labelled by its nodes and have distance 0 or
--   1, even numeric ones.
-- threshold: a row is an outlier if its COF exceeds this number; alpha then has no effect; NULL
--   means the limit that alpha sets.
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
-- Example: SELECT * FROM rayden('people', k := 2, quasi := ['age', 'city'], sensitive := 'illness');
CREATE OR REPLACE MACRO rayden(
    tbl, k := 5, quasi := NULL, sensitive := NULL, identifiers := NULL, keep := NULL, l := 1,
    l_kind := 'distinct', c := 3, t := 1.0, entity := NULL, format := 'label', suppressed := 'keep',
    seed := 42, alpha := 2.0, vantage := 'random', cut := 'balanced', tries := 8, repair := 'cap',
    variant := 'rayden', unrecovered := 'return', hierarchy := NULL, threshold := NULL,
    beta := NULL, delta := NULL, strata := NULL, weights := NULL, beta_kind := 'enhanced',
    max_share := NULL, exclude := NULL, bin_width := NULL, series := NULL, key := NULL,
    transparent := false, transparent_by := 'groups', ordered := NULL
) AS TABLE
FROM __anon_released(
    'rayden', tbl, k, __anon_scope(tbl, system.main.struct_pack(
        quasi := quasi, sensitive := sensitive, identifiers := identifiers, keep := keep, l := l,
        t := t, entity := entity, beta := beta, delta := delta, max_share := max_share,
        exclude := exclude)),
    format, system.main.struct_pack(
        l_kind := l_kind, c := c, format := format, suppressed := suppressed, seed := seed,
        alpha := alpha, vantage := vantage, cut := cut, tries := tries, repair := repair,
        variant := variant, unrecovered := unrecovered, threshold := threshold, strata := strata,
        weights := weights, beta_kind := beta_kind, bin_width := bin_width,
        transparent := transparent, transparent_by := transparent_by, ordered := ordered),
    hierarchy, entity, series, key);
