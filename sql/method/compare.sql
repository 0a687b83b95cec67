-- What methods make of a table, side by side: each release's measures, and how long it takes. They
-- run one after another, on one copy of the table, and nothing is released.
--
-- tbl: name of the relation. methods: names of release methods; NULL for all that fit the table and
--   add no rows to it.
-- ks: smallest classes, in rows. qids, sensitive, identifiers, keep: column names; NULL means as
--   declared in comments.
-- l: how diverse each sensitive column is in each class. l_kind: 'distinct' values, 'entropy' or
--   'recursive'. c: of 'recursive'. t: how far its values may be from the table's, 0…1.
-- entity: the column that says whose a row is; k, l and t then count persons.
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
    identifiers := NULL, keep := NULL, hierarchy := NULL, seed := 42, options := NULL,
    l := 1, l_kind := 'distinct', c := 3, t := 1.0, entity := NULL
) AS TABLE
FROM __anon_comparison(
    tbl, __anon_scope(
        tbl, qids, sensitive, identifiers, keep,
        __anon_entity := entity, __anon_l := l, __anon_t := t),
    __anon_common(
        'label', 'keep', seed,
        __anon_l := l, __anon_l_kind := l_kind, __anon_c := c, __anon_t := t),
    {'methods': methods, 'ks': ks, 'options': options}, hierarchy);
