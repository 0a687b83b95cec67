-- What can still be learned from a release: a classifier is trained on the raw table and on the
-- release, and each is tested on rows that were held out of its own training.
--
-- raw: name of the original table. released: name of its release, label or typed format.
-- target: the column to predict from the quasi-identifiers; it is kept in the release.
-- model: 'random_forest', 'knn', 'svm' or 'naive_bayes' (of scikit-learn, extra `ml`).
-- positive: the value that f_measure is of; NULL means the rarest.
-- held_out: share of rows to test on. seed: split and model.
-- baseline: 'raw', or 'none' where the raw table's row is not wanted, which saves its training.
-- qids: the quasi-identifiers; NULL means as declared in comments on the raw table.
-- hierarchy: the relation that the release was made with; NULL for none.
-- Returns: a row or two: data ('raw' or 'released'), accuracy, f_measure (2 TP / (2 TP + FP + FN)),
--   trained, tested (rows). As many rows of each value of target are held out of both tables,
--   and rows that a release leaves out are missing from it. A release may have more rows than the
--   raw table.
-- Errors: no scikit-learn, no such target or model, a target with fewer than two values, a call
--   that other measures refuse.
-- Example: SELECT * FROM classification('people', 'release', target := 'illness', model := 'naive_bayes', qids := ['age', 'city']);
CREATE OR REPLACE MACRO classification(
    raw, released, target := 'income', model := 'random_forest', positive := NULL,
    held_out := 0.3, seed := 42, baseline := 'raw', qids := NULL, hierarchy := NULL
) AS TABLE
SELECT unnest(__anon_classification(
    {'target': target, 'model': model, 'positive': positive, 'held_out': held_out, 'seed': seed,
     'baseline': baseline, 'rows': __anon_rows, 'quasi': __anon_attributes},
    __anon_types, __anon_t.__anon_lists, __anon_l.__anon_lists, __anon_f.__anon_ordered),
    recursive := true)
FROM
    __anon_measured(
        'classification', raw, released, 5, 'share', __anon_measure_call(raw, qids, NULL),
        __anon_hierarchy := hierarchy, __anon_adds := true),
    __anon_schema(raw, 0),
    __anon_taught(raw, target, __anon_measure_call(raw, qids, NULL)) AS __anon_t,
    __anon_learned(released, target, __anon_measure_call(raw, qids, NULL)) AS __anon_l,
    __anon_taught_trees(raw, __anon_measure_call(raw, qids, NULL), hierarchy) AS __anon_f;
