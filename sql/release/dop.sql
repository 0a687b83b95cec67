-- A k-anonymous release by DOP: dense clusters (DBSCAN), each cut where a cut loses least.
--
-- tbl: name of the relation. k: smallest class, in rows. qids, sensitive, identifiers, keep:
--   column names; NULL means as declared in comments.
-- l: how diverse each sensitive column is in each class. l_kind: 'distinct' values, 'entropy' or
--   'recursive'. c: of 'recursive'. t: how far its values may be from the table's, 0…1.
-- entity: the column that says whose a row is; k, l and t then count persons, and it is dropped.
-- format: 'label' (text) or 'typed' (structs and lists). suppressed: 'keep' or 'drop'.
-- seed: of no effect, since nothing is drawn.
-- eps: distance within which rows are neighbours; NULL chooses one that leaves at most 1 % noise.
-- min_samples: neighbours of a dense row, itself among them; NULL means k.
-- loss: 'lil' cuts by the ranges of numbers alone, as the paper does, 'ncp' by all that is lost.
-- noise: 'class' keeps noise as one class where it may be one, 'split' cuts it like a cluster;
--   else it joins its nearest clusters. 'suppress' suppresses it instead where it may be no class.
-- hierarchy: name of a relation with attribute, value, level and label, whose columns are labelled
--   by nodes; NULL for none.
-- Returns: the source's columns less the identifiers, quasi-identifiers generalized.
-- Errors: no quasi-identifier, k above the number of rows, unknown columns or options, scikit-learn
--   (extra ml) not installed.
-- Example: SELECT * FROM dop('people', k := 2, qids := ['age', 'city']);
CREATE OR REPLACE MACRO dop(
    tbl, k := 5, qids := NULL, sensitive := NULL, identifiers := NULL, keep := NULL,
    l := 1, l_kind := 'distinct', c := 3, t := 1.0, entity := NULL,
    format := 'label', suppressed := 'keep', seed := 42,
    eps := NULL, min_samples := NULL, loss := 'lil', noise := 'class',
    hierarchy := NULL
) AS TABLE
FROM __anon_release(
    'dop', tbl, k, __anon_scope(
        tbl, qids, sensitive, identifiers, keep,
        __anon_entity := entity, __anon_l := l, __anon_t := t),
    __anon_common(
        format, suppressed, seed,
        __anon_l := l, __anon_l_kind := l_kind, __anon_c := c, __anon_t := t), format,
    {'eps': eps, 'min_samples': min_samples, 'loss': loss, 'noise': noise},
    __anon_hierarchy := hierarchy);
