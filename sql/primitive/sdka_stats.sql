-- What SDkA adds to a table and how its classes came about: the numbers that its release, which must
-- not say which rows are synthetic, leaves out. They are of use to whoever may see the table: `added`
-- shows sensitive values and takes the protection of the others apart, so it is no part of a release.
--
-- All arguments as in sdka: the same call gives the numbers of the same release.
-- Returns: one row: real_rows, synthetic_rows, added (attribute, value as text and rows of each
--   sensitive value among the synthetic rows), clusters (of k-means), merged (how many of them
--   joined another), classes (of labels), smallest_class (real rows), iloss (Byun et al. 2007: the
--   sum over rows and quasi-identifiers, each 0…1), gcp (0…1), both from the real rows' values,
--   whatever `numbers` is.
-- Errors: as sdka.
-- Example: SELECT * FROM sdka_stats('people', k := 2, qids := ['age', 'city'], sensitive := 'illness', generator := 'bootstrap');
CREATE OR REPLACE MACRO sdka_stats(
    tbl, k := 5, qids := NULL, sensitive := NULL, identifiers := NULL, keep := NULL,
    l := 2, l_kind := 'distinct', c := 3, t := 1.0, entity := NULL, seed := 42,
    generator := 'ctgan', epochs := 10, target_ratio := 2.0, dominant := 0.9, numbers := 'range',
    hierarchy := NULL
) AS TABLE
FROM __anon_sdka_counted(
    tbl, k, __anon_scope(
        tbl, qids, sensitive, identifiers, keep,
        __anon_entity := entity, __anon_l := l, __anon_t := t),
    __anon_common(
        'label', 'keep', seed,
        __anon_l := l, __anon_l_kind := l_kind, __anon_c := c, __anon_t := t),
    {'generator': generator, 'epochs': epochs, 'target_ratio': target_ratio,
     'dominant': dominant, 'numbers': numbers}, hierarchy);
