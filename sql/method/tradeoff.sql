-- What a release would lose, and what it would still disclose, for several k and l: choose k and l
-- by these figures before you release anything. The releases are made one after another on one copy
-- of the table, and nothing is released.
--
-- As in every release: tbl, quasi, sensitive, identifiers, keep, hierarchy, entity, t, beta, delta,
--   strata, beta_kind, max_share, exclude, bin_width, ordered.
-- ks: values of k to try.
-- ls: values of l (distinct values of each sensitive column in a class) to try; an l above 1 needs
--   a sensitive column.
-- method: release method.
-- seed: seed for random choices. It also draws the queries.
-- queries: number of random queries, drawn as by query_workload: ranges and sets over two
--   quasi-identifiers that match 5 % of the rows.
-- options: parameters of the method, such as {'anonymize': {'effort': 'fast'}}; all others keep
--   their defaults.
-- weights: importance of each quasi-identifier in the loss, such as weights := MAP {'age': 2,
--   'city': 0.5}; columns left out have weight 1; NULL for none. They apply to gcp and to the
--   methods that take weights.
-- Returns: a row per k and l: k, l; gcp (information loss, 0…1), classes, smallest_class,
--   suppressed (rows), as in utility; query_error (mean of relative_error, as in workload_error);
--   largest_share (of the most frequent sensitive value in the rows of a class that have a value,
--   in the worst class; 1 where a class discloses it), exposed_share (share of classes with a
--   single sensitive value, class_share of attack_homogeneity), both of the worst sensitive column
--   and NULL without one; lost_columns (quasi-identifiers whose ncp is above .9, as in
--   attribute_loss); seconds (spent in the method itself); note (NULL, or the reason why there
--   is no release and the measures are NULL).
-- Errors: no quasi-identifier, an unknown method, columns or options, a value that its hierarchy
--   lacks. A method that cannot run, an impossible k or l and an l that the table does not have are
--   notes.
-- Example: SELECT * FROM tradeoff('people', ks := [2, 5], ls := [1, 2], quasi := ['age', 'city'], sensitive := ['illness']);
CREATE OR REPLACE MACRO tradeoff(
    tbl, ks := [2, 5, 10, 20, 50], ls := [1, 2], method := 'anonymize', quasi := NULL,
    sensitive := NULL, identifiers := NULL, keep := NULL, hierarchy := NULL, seed := 42,
    entity := NULL, queries := 50, options := NULL, t := 1.0, beta := NULL, delta := NULL,
    weights := NULL, strata := NULL, beta_kind := 'enhanced', max_share := NULL, exclude := NULL,
    bin_width := NULL, ordered := NULL
) AS TABLE
SELECT unnest(__anon_one)
FROM (
    SELECT unnest(__anon_methods_tradeoff(__anon_buffer, __anon_row_numbers(__anon_rows), __anon_path_rows))
        AS __anon_one
    FROM __anon_table(
        -- an l of 2, so that the sensitive values are passed to the core
        'tradeoff', tbl, 1, __anon_scope(tbl, system.main.struct_insert(system.main.struct_pack(
            quasi := quasi, sensitive := sensitive, identifiers := identifiers, keep := keep,
            entity := entity, t := t, beta := beta, delta := delta, max_share := max_share,
            exclude := exclude), l := 2)),
        system.main.struct_pack(
            ks := ks, ls := ls, method := method, seed := seed, queries := queries,
            options := options, weights := weights, strata := strata, beta_kind := beta_kind,
            bin_width := bin_width, ordered := ordered),
        hierarchy, 'none'));
