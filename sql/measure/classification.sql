-- The accuracy of a classifier trained on the raw table and of one trained on the release, each
-- tested on rows that were held out of its own training.
--
-- raw: name of the raw table. released: name of its release, in label or typed format.
-- target: column to predict from the quasi-identifiers; the release keeps it.
-- model: classifier of scikit-learn (extra `ml`): 'random_forest', 'knn', 'svm' or 'naive_bayes'.
-- positive: the value whose f_measure is computed; NULL means the rarest.
-- held_out: share of the rows held out for testing.
-- seed: seed for the split and the model.
-- baseline: 'raw' trains on the raw table too; 'none' skips it.
-- quasi: the quasi-identifiers; NULL means the columns declared in comments on the raw table.
-- hierarchy: hierarchies that the release was made with; NULL for none.
-- Returns: one or two rows: data ('raw' or 'released'), accuracy, f_measure (2 TP / (2 TP + FP +
--   FN)), trained, tested (rows). The same number of rows of each value of target is held out of
--   both tables; rows that a release leaves out are missing from it. A release may have more rows
--   than the raw table.
-- Errors: no scikit-learn, no such target or model, a target with fewer than two values, a call
--   that other measures refuse.
-- Example: SELECT * FROM classification('people', 'release', target := 'illness', model := 'naive_bayes', quasi := ['age', 'city']);
CREATE OR REPLACE MACRO classification(
    raw, released, target := 'income', model := 'random_forest', positive := NULL, held_out := 0.3,
    seed := 42, baseline := 'raw', quasi := NULL, hierarchy := NULL
) AS TABLE
WITH __anon_classed AS (
    FROM __anon_groups(released, __anon_measure_call(raw, quasi, NULL), 'quasi')
)
SELECT unnest(__anon_queries_classified(
    system.main.struct_pack(
        target := target, model := model, positive := positive, held_out := held_out,
        seed := seed, baseline := baseline),
    __anon_given, __anon_t.__anon_lists, __anon_l.__anon_lists), recursive := true)
FROM
    __anon_given(
        raw, released, __anon_measure_call(raw, quasi, NULL), hierarchy, '__anon_classed'),
    __anon_learned(raw, target, __anon_measure_call(raw, quasi, NULL)) AS __anon_t,
    __anon_learned(released, target, __anon_measure_call(raw, quasi, NULL)) AS __anon_l;
