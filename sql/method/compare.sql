-- The measures and the time of several methods on one table, side by side. The methods run one
-- after another on one copy of the table, and nothing is released.
--
-- As in every release: tbl, quasi, sensitive, identifiers, keep, hierarchy, seed, l, l_kind, c, t,
--   entity, beta, delta, strata, beta_kind, max_share, exclude, bin_width, ordered.
-- methods: release methods to compare; NULL means all that fit the table and add no rows.
-- ks: values of k to try.
-- options: parameters of individual methods, such as {'rayden': {'cut': 'aligned'}}; all others
--   keep their defaults.
-- weights: importance of each quasi-identifier in the loss, such as weights := MAP {'age': 2,
--   'city': 0.5}; columns left out have weight 1; NULL for none. They apply to gcp and to the
--   methods that take weights.
-- Returns: a row per method and k: method, k, seconds (spent in the method itself); rows,
--   suppressed, classes, smallest_class, dm, dm_star, cavg, gcp, iloss, suppression_rate (as in
--   utility); note (NULL, or the reason why there is no release and all measures are NULL).
-- Errors: no quasi-identifier, unknown methods, columns or options, a value that its hierarchy
--   lacks. A method that cannot run and an impossible k are notes.
-- Example: SELECT * FROM compare('people', ks := [2, 5], quasi := ['age', 'city'], keep := ['illness']);
CREATE OR REPLACE MACRO compare(
    tbl, methods := NULL, ks := [5, 10, 25, 50, 100], quasi := NULL, sensitive := NULL,
    identifiers := NULL, keep := NULL, hierarchy := NULL, seed := 42, options := NULL, l := 1,
    l_kind := 'distinct', c := 3, t := 1.0, entity := NULL, beta := NULL, delta := NULL,
    weights := NULL, strata := NULL, beta_kind := 'enhanced', max_share := NULL, exclude := NULL,
    bin_width := NULL, ordered := NULL
) AS TABLE
SELECT unnest(__anon_one)
FROM (
    SELECT unnest(__anon_methods_compare(__anon_buffer, __anon_row_numbers(__anon_rows), __anon_path_rows))
        AS __anon_one
    FROM __anon_table(
        'compare', tbl, 1, __anon_scope(tbl, system.main.struct_pack(
            quasi := quasi, sensitive := sensitive, identifiers := identifiers, keep := keep, l := l,
            t := t, entity := entity, beta := beta, delta := delta, max_share := max_share,
            exclude := exclude)),
        system.main.struct_pack(
            methods := methods, ks := ks, seed := seed, options := options, l_kind := l_kind,
            c := c, weights := weights, strata := strata, beta_kind := beta_kind,
            bin_width := bin_width, ordered := ordered),
        hierarchy, 'none'));
