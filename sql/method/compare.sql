-- The measures and the time of several methods on one table, side by side. The methods run one
-- after another on one copy of the table, and nothing is released.
--
-- tbl: name of the relation. methods: names of release methods; NULL for all that fit the table and
--   add no rows to it.
-- ks: smallest sizes of an equivalence class, in rows. qids, sensitive, identifiers, keep: column
--   names; NULL means as declared in comments.
-- l: smallest diversity of each sensitive column in a class. l_kind: 'distinct' values, 'entropy'
--   or 'recursive'. c: the constant of 'recursive'. t: largest distance of a sensitive column's
--   distribution in a class from that in the table, 0…1.
-- beta: largest relative gain of a sensitive value's share in a class over that in the table, also
--   limited to -ln of the latter. delta: bound of |ln(share in a class / share in the table)| for
--   every sensitive value. NULL for none.
-- entity: column that identifies persons; k, l and t then count persons.
-- hierarchy: name of a relation with attribute, value, level and label; NULL for none.
-- seed: seed of all random choices.
-- options: parameters of single methods, such as {'rayden': {'cut': 'aligned'}}; all others have
--   their defaults.
-- weights: how much the loss of each quasi-identifier matters, to the methods that take weights and
--   in gcp; 1 for those that are left out.
-- Returns: a row per method and k: method, k, seconds (inside the method alone); rows, suppressed,
--   classes, smallest_class, dm, dm_star, cavg, gcp, iloss, suppression_rate (as in utility); note
--   (NULL, or the reason why there is no release and all measures are NULL).
-- Errors: no quasi-identifier, unknown methods, columns or options, a value that its hierarchy
--   lacks. A method that cannot run and an impossible k are notes.
-- Example: SELECT * FROM compare('people', ks := [2, 5], qids := ['age', 'city'], keep := ['illness']);
CREATE OR REPLACE MACRO compare(
    tbl, methods := NULL, ks := [5, 10, 25, 50, 100], qids := NULL, sensitive := NULL,
    identifiers := NULL, keep := NULL, hierarchy := NULL, seed := 42, options := NULL,
    l := 1, l_kind := 'distinct', c := 3, t := 1.0, entity := NULL, beta := NULL, delta := NULL,
    weights := NULL
) AS TABLE
SELECT unnest(__anon_one)
FROM (
    SELECT unnest(__anon_methods_compare(__anon_intake, __anon_taken_of(__anon_rows), __anon_path_rows))
        AS __anon_one
    FROM __anon_table(
        'compare', tbl, 1, __anon_scope(
            tbl, qids, sensitive, identifiers, keep,
            __anon_entity := entity, __anon_l := l, __anon_t := t,
            __anon_beta := beta, __anon_delta := delta),
        system.main.struct_pack(
            seed := seed, l := l, l_kind := l_kind, c := c, t := t, beta := beta, delta := delta,
            methods := methods, ks := ks, options := options, weights := weights),
        hierarchy, 'none'));
