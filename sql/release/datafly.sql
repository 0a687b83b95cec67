-- A k-anonymous release by Datafly (Sweeney 1998): whole columns are generalized along their
-- hierarchies, level by level, until few rows are in combinations rarer than k; these rows are
-- suppressed.
--
-- As in every release: tbl, k, quasi, sensitive, identifiers, keep, l, l_kind, c, t, entity,
--   format, hierarchy, beta, delta, strata, beta_kind, max_share, exclude, bin_width, ordered.
-- suppressed: 'keep' shows suppressed rows as *; 'drop' leaves them out. 'drop' is refused if more
--   rows are suppressed than suppression_limit allows. If the shown rows are too few for a class,
--   the rows of the smallest classes are suppressed too.
-- seed: seed for random choices. It has no effect: the method makes no random choices.
-- suppression_limit: largest allowed share of suppressed rows, 0…1; NULL means k rows.
-- like: earlier release by full_domain or datafly, in labels; rows are recoded with its labels and
--   no others. A row is suppressed if one of its values or NULLs has no such label, or if its class
--   is not legal; NULL for none.
-- series: state of a series that series_next has made of this table; the release then consists of
--   its cohorts, the rows of former members included; without a key, that of the series is
--   'env:ANON_KEY'; NULL for none. Refused: a column that is generalized alike in all rows fits no
--   cohorts.
-- key: secret key, as in anon_pseudonym: random choices depend on it and on the seed, and cannot be
--   repeated without it; NULL for none.
-- Returns: the columns of the source without the identifiers; quasi-identifiers are generalized.
-- Errors: a quasi-identifier without a hierarchy, k above the number of rows, a value that its
--   hierarchy lacks, a like whose labels overlap or that suppresses more than suppression_limit.
-- Example: SELECT * FROM datafly('people', k := 2, quasi := ['age', 'city'], sensitive := 'illness', hierarchy := 'people_hierarchy');
CREATE OR REPLACE MACRO datafly(
    tbl, k := 5, quasi := NULL, sensitive := NULL, identifiers := NULL, keep := NULL, l := 1,
    l_kind := 'distinct', c := 3, t := 1.0, entity := NULL, format := 'label', suppressed := 'keep',
    seed := 42, hierarchy := NULL, suppression_limit := NULL, beta := NULL, delta := NULL,
    strata := NULL, like := NULL, beta_kind := 'enhanced', max_share := NULL, exclude := NULL,
    bin_width := NULL, series := NULL, key := NULL, ordered := NULL
) AS TABLE
FROM __anon_released(
    'datafly', tbl, k, __anon_scope(tbl, system.main.struct_pack(
        quasi := quasi, sensitive := sensitive, identifiers := identifiers, keep := keep, l := l,
        t := t, entity := entity, beta := beta, delta := delta, max_share := max_share,
        exclude := exclude)),
    format, system.main.struct_insert(
        system.main.struct_pack(
            l_kind := l_kind, c := c, format := format, suppressed := suppressed, seed := seed,
            suppression_limit := suppression_limit, strata := strata, beta_kind := beta_kind,
            bin_width := bin_width, ordered := ordered),
        "like" := __anon_earlier("like", __anon_scope(tbl, system.main.struct_pack(
            quasi := quasi, sensitive := sensitive, identifiers := identifiers, keep := keep, l := l,
            t := t, entity := entity, beta := beta, delta := delta, max_share := max_share,
            exclude := exclude)))),
    hierarchy, entity, series, key);
