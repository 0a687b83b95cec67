-- A k-anonymous release by optimal full-domain generalization (Samarati 2001; OLA, El Emam et al.
-- 2009; Flash, Kohlmayer et al. 2012): one level per column for all rows, the best of all
-- combinations of levels that are legal.
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
--   as *, which must then be a legal class: if they are too few, the rows of the smallest classes
--   are suppressed too. 'drop' leaves them out, but never all rows.
-- seed: no effect, because the method makes no random choice.
-- hierarchy: name of a relation with attribute, value, level and label. Numbers, dates and times
--   without a hierarchy have ranges of doubling widths, and *; text has its values, and *.
-- suppression_limit: largest share of suppressed rows, 0…1.
-- minimize: 'gcp' (information loss), 'dm' (discernibility) or 'height' (the sum of the levels; of
--   equal ones the least information loss).
-- strata: quasi-identifiers that are not generalized; no class crosses their values.
-- like: name of an earlier release of full_domain or datafly in labels; the rows are recoded by its
--   labels, and no others are shown. Rows with a value or NULL that no label of its column covers,
--   or in no legal class, are suppressed.
-- Returns: the columns of the source without the identifiers; quasi-identifiers are generalized.
-- Errors: k above the number of rows, a value that its hierarchy lacks, more than 4,194,304
--   combinations of levels, suppressed := 'drop' where only * in every column is legal, a like whose
--   labels overlap or that suppresses more than suppression_limit.
-- Example: SELECT * FROM full_domain('people', k := 2, qids := ['age', 'city'], sensitive := 'illness', hierarchy := 'people_hierarchy');
CREATE OR REPLACE MACRO full_domain(
    tbl, k := 5, qids := NULL, sensitive := NULL, identifiers := NULL, keep := NULL,
    l := 1, l_kind := 'distinct', c := 3, t := 1.0, entity := NULL,
    format := 'label', suppressed := 'keep', seed := 42, hierarchy := NULL,
    suppression_limit := 0, minimize := 'gcp', beta := NULL, delta := NULL,
    strata := NULL, like := NULL
) AS TABLE
FROM __anon_release(
    'full_domain', tbl, k, __anon_scope(
        tbl, qids, sensitive, identifiers, keep,
        __anon_entity := entity, __anon_l := l, __anon_t := t,
        __anon_beta := beta, __anon_delta := delta),
    format, system.main.struct_pack(
        format := format, suppressed := suppressed, seed := seed, l := l, l_kind := l_kind,
        c := c, t := t, beta := beta, delta := delta, strata := strata,
        suppression_limit := suppression_limit, minimize := minimize,
        like := __anon_earlier(
            "like", __anon_scope(tbl, qids, sensitive, identifiers, keep))),
    __anon_hierarchy := hierarchy);
