-- What methods make of a table, side by side: each release's measures, and how long it takes. They
-- run one after another, on one copy of the table, and nothing is released.
--
-- tbl: name of the relation. methods: names of release methods; NULL for all that fit the table.
-- ks: smallest classes, in rows. qids, sensitive, identifiers, keep: column names; NULL means as
--   declared in comments.
-- hierarchy: name of a relation with attribute, value, level and label; NULL for none.
-- seed: all randomness.
-- options: parameters of single methods, such as {'rayden': {'cut': 'aligned'}}; all others are as
--   in a call that leaves them out.
-- Returns: a row per method and k: method, k, seconds (in the method alone); rows, suppressed,
--   classes, smallest_class, dm, dm_star, cavg, gcp, suppression_rate, which are what utility says
--   of that release; note (NULL, or why there is none: all measures are NULL then).
-- Errors: no quasi-identifier, unknown methods, columns or options, a value that its hierarchy
--   lacks. A method that cannot run and a k that cannot be are notes.
-- Example: SELECT * FROM compare('people', ks := [2, 5], qids := ['age', 'city'], keep := ['illness']);
CREATE OR REPLACE MACRO compare(
    tbl, methods := NULL, ks := [5, 10, 25, 50, 100], qids := NULL, sensitive := NULL,
    identifiers := NULL, keep := NULL, hierarchy := NULL, seed := 42, options := NULL
) AS TABLE
WITH
__anon_planned AS MATERIALIZED (
    SELECT __anon_plan(
        'compare', __anon_types, __anon_k_given,
        __anon_scope(tbl, qids, sensitive, identifiers, keep), __anon_seen(tbl),
        __anon_common('label', 'keep', seed),
        {'methods': methods, 'ks': ks, 'options': options}) AS __anon_plan
    FROM __anon_schema(tbl, 1)
),
__anon_lists AS (
    SELECT
        list(COLUMNS(lambda __anon_c: __anon_c = '__anon_hash' OR __anon_is(
            'quasi', __anon_c, __anon_scope(tbl, qids, sensitive, identifiers, keep)))),
        list(__anon_mark(COLUMNS(lambda __anon_c: __anon_is(
            'loose', __anon_c, __anon_scope(tbl, qids, sensitive, identifiers, keep)))))
            AS '__anon_mark_\0'
    FROM
        __anon_rows(tbl, __anon_scope(tbl, qids, sensitive, identifiers, keep)), __anon_planned
    WHERE CASE
        WHEN __anon_row <= __anon_plan.rows THEN true ELSE error(__anon_plan.too_large) END
),
__anon_given AS MATERIALIZED (
    SELECT struct_pack(*COLUMNS(__anon_lists.*)) AS __anon_packed FROM __anon_lists
),
__anon_compared AS MATERIALIZED (
    SELECT __anon_compare(
        __anon_plan, __anon_packed, {'methods': methods, 'ks': ks, 'options': options},
        __anon_trees) AS __anon_found
    FROM
        __anon_planned, __anon_given,
        __anon_trees(tbl, __anon_scope(tbl, qids, sensitive, identifiers, keep), hierarchy)
)
SELECT unnest(__anon_one)
FROM (SELECT unnest(__anon_found) AS __anon_one FROM __anon_compared);
