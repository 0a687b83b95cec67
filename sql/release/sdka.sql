-- A release by SDkA (Majeed and Hwang 2025), which adds rows: rare sensitive values get synthetic
-- records, k-means makes classes of real and synthetic rows, and each class has k real rows and l
-- real sensitive values. It is perturbative; sdka_stats says how many rows were added.
--
-- tbl: name of the relation. k: smallest class, in real rows. qids, sensitive, identifiers, keep:
--   column names; NULL means as declared in comments.
-- l: how diverse each sensitive column is in each class. l_kind: 'distinct' values, 'entropy' or
--   'recursive'. c: of 'recursive'. t: how far its values may be from the table's, 0…1. All three
--   count real rows.
-- entity: the column that says whose a row is; k, l and t then count persons, and it is dropped.
-- format: 'label' (text) or 'typed' (structs and lists). suppressed: 'keep' or 'drop'; no row is
--   suppressed. seed: all randomness.
-- generator: 'ctgan' (extra ctgan, which is under the Business Source License) or 'bootstrap', which
--   mixes real rows. epochs: how long CTGAN learns.
-- target_ratio: a sensitive value gets records until the most frequent one has at most so many times
--   its rows.
-- dominant: share of the real rows from which a class shows the value that it agrees on; a rarer one
--   goes one level up its hierarchy. 0 shows every such value.
-- numbers: 'range' of the class's real rows or 'centre', the value nearest to their mean, which is
--   not true of most rows.
-- hierarchy: name of a relation with attribute, value, level and label, whose columns are labelled
--   by nodes; NULL for none.
-- Returns: the source's columns less the identifiers, quasi-identifiers generalized, in more rows
--   than the source. Nothing says which are synthetic; none equals a real row.
-- Errors: no quasi-identifier, no sensitive column, k above the number of rows, an extra that is not
--   installed (ml is needed always), too few records that differ from real rows, unknown columns or
--   options.
-- Example: SELECT * FROM sdka('people', k := 2, qids := ['age', 'city'], sensitive := 'illness', generator := 'bootstrap');
CREATE OR REPLACE MACRO sdka(
    tbl, k := 5, qids := NULL, sensitive := NULL, identifiers := NULL, keep := NULL,
    l := 2, l_kind := 'distinct', c := 3, t := 1.0, entity := NULL,
    format := 'label', suppressed := 'keep', seed := 42,
    generator := 'ctgan', epochs := 10, target_ratio := 2.0, dominant := 0.9, numbers := 'range',
    hierarchy := NULL
) AS TABLE
WITH __anon_mixed AS MATERIALIZED (
    FROM __anon_synthesized(
        'sdka', tbl, k, __anon_scope(
            tbl, qids, sensitive, identifiers, keep,
            __anon_entity := entity, __anon_l := l, __anon_t := t),
        __anon_common(
            format, suppressed, seed,
            __anon_l := l, __anon_l_kind := l_kind, __anon_c := c, __anon_t := t),
        {'generator': generator, 'epochs': epochs, 'target_ratio': target_ratio,
         'dominant': dominant, 'numbers': numbers})
)
FROM __anon_release(
    'sdka', tbl, k, __anon_scope(
        tbl, qids, sensitive, identifiers, keep,
        __anon_entity := entity, __anon_l := l, __anon_t := t),
    __anon_common(
        format, suppressed, seed,
        __anon_l := l, __anon_l_kind := l_kind, __anon_c := c, __anon_t := t), format,
    {'generator': generator, 'epochs': epochs, 'target_ratio': target_ratio,
     'dominant': dominant, 'numbers': numbers},
    __anon_hierarchy := hierarchy, __anon_from := '__anon_mixed');
