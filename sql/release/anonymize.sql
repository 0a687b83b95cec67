-- A k-anonymous release with the least loss that the effort allows: classes of k to 2k - 1 rows,
-- chosen for the loss itself (NCP) rather than for a distance. No row is suppressed.
--
-- tbl: name of the relation. k: smallest class, in rows. qids, sensitive, identifiers, keep:
--   column names; NULL means as declared in comments.
-- l: how diverse each sensitive column is in each class. l_kind: 'distinct' values, 'entropy' or
--   'recursive'. c: of 'recursive'. t: how far its values may be from the table's, 0…1.
-- entity: the column that says whose a row is; k, l and t then count persons, and it is dropped.
-- format: 'label' (text) or 'typed' (structs and lists). suppressed: 'keep' or 'drop'.
-- seed: all randomness; only 'best' has any.
-- effort: 'fast' (an order of the rows, cut at the least loss), 'good' (a better order, some
--   three times as long) or 'best' (a search that goes on from 'good').
-- time_limit: seconds that 'best' may search. rounds: rounds it may search instead, however long
--   they take: the same call then gives the same release; NULL to go by time_limit.
-- hierarchy: name of a relation with attribute, value, level and label, whose columns are labelled
--   by nodes and scored by the leaves below; NULL for none.
-- Returns: the source's columns less the identifiers, quasi-identifiers generalized.
-- Errors: no quasi-identifier, k above the number of rows, unknown columns or options.
-- Example: SELECT * FROM anonymize('people', k := 2, qids := ['age', 'city']);
CREATE OR REPLACE MACRO anonymize(
    tbl, k := 5, qids := NULL, sensitive := NULL, identifiers := NULL, keep := NULL,
    l := 1, l_kind := 'distinct', c := 3, t := 1.0, entity := NULL,
    format := 'label', suppressed := 'keep', seed := 42,
    effort := 'good', time_limit := 30, rounds := NULL,
    hierarchy := NULL
) AS TABLE
FROM __anon_release(
    'anonymize', tbl, k, __anon_scope(
        tbl, qids, sensitive, identifiers, keep,
        __anon_entity := entity, __anon_l := l, __anon_t := t),
    __anon_common(
        format, suppressed, seed,
        __anon_l := l, __anon_l_kind := l_kind, __anon_c := c, __anon_t := t), format,
    {'effort': effort, 'time_limit': time_limit, 'rounds': rounds},
    __anon_hierarchy := hierarchy);
