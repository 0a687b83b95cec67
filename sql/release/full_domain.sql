-- A k-anonymous release by optimal full-domain generalization (Samarati 2001; OLA, El Emam et al.
-- 2009; Flash, Kohlmayer et al. 2012): one level per column for all rows, the best of all
-- combinations of levels that are legal.
--
-- As in every release: tbl, k, quasi, sensitive, identifiers, keep, l, l_kind, c, t, entity,
--   format, beta, delta, strata, beta_kind, max_share, exclude, bin_width, ordered.
-- suppressed: 'keep' shows suppressed rows as *; 'drop' leaves them out. Suppressed rows that are
--   shown must be a legal class: if they are too few, the rows of the smallest classes are
--   suppressed too. 'drop' never leaves out all rows.
-- seed: seed for random choices. It has no effect: the method makes no random choices.
-- hierarchy: relation that holds generalization hierarchies, with the columns attribute, value,
--   level and label; NULL for none. Without a hierarchy, numbers, dates and times are generalized
--   to ranges of doubling width and then to *, and text directly to *.
-- suppression_limit: largest allowed share of suppressed rows, 0…1.
-- minimize: what to minimize: 'gcp' (information loss), 'dm' (discernibility) or 'height' (the sum
--   of the levels; ties go to the least information loss).
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
-- Errors: k above the number of rows, a value that its hierarchy lacks, more than 4,194,304
--   combinations of levels, suppressed := 'drop' where only * in every column is legal, a like whose
--   labels overlap or that suppresses more than suppression_limit.
-- Example: SELECT * FROM full_domain('people', k := 2, quasi := ['age', 'city'], sensitive := 'illness', hierarchy := 'people_hierarchy');
CREATE OR REPLACE MACRO full_domain(
    tbl, k := 5, quasi := NULL, sensitive := NULL, identifiers := NULL, keep := NULL, l := 1,
    l_kind := 'distinct', c := 3, t := 1.0, entity := NULL, format := 'label', suppressed := 'keep',
    seed := 42, hierarchy := NULL, suppression_limit := 0, minimize := 'gcp', beta := NULL,
    delta := NULL, strata := NULL, like := NULL, beta_kind := 'enhanced', max_share := NULL,
    exclude := NULL, bin_width := NULL, series := NULL, key := NULL, ordered := NULL
) AS TABLE
FROM __anon_released(
    'full_domain', tbl, k, __anon_scope(tbl, system.main.struct_pack(
        quasi := quasi, sensitive := sensitive, identifiers := identifiers, keep := keep, l := l,
        t := t, entity := entity, beta := beta, delta := delta, max_share := max_share,
        exclude := exclude)),
    format, system.main.struct_insert(
        system.main.struct_pack(
            l_kind := l_kind, c := c, format := format, suppressed := suppressed, seed := seed,
            suppression_limit := suppression_limit, minimize := minimize, strata := strata,
            beta_kind := beta_kind, bin_width := bin_width, ordered := ordered),
        "like" := __anon_earlier("like", __anon_scope(tbl, system.main.struct_pack(
            quasi := quasi, sensitive := sensitive, identifiers := identifiers, keep := keep, l := l,
            t := t, entity := entity, beta := beta, delta := delta, max_share := max_share,
            exclude := exclude)))),
    hierarchy, entity, series, key);
