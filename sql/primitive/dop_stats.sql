-- The clusters, the noise and the number of cuts of DOP on a table.
--
-- All arguments as in dop: the same call reports on the same release.
-- Returns: one row: eps and min_samples as given or chosen, clusters and noise (rows) as found by
--   DBSCAN, joined (clusters that were illegal and were merged into another), splits (cuts made),
--   suppressed (rows that are * in every quasi-identifier, shown or left out), suppression_rate
--   (0…1), classes (without the suppressed rows).
-- Errors: as in dop.
-- Example: SELECT * FROM dop_stats('people', k := 2, quasi := ['age', 'city']);
CREATE OR REPLACE MACRO dop_stats(
    tbl, k := 5, quasi := NULL, sensitive := NULL, identifiers := NULL, keep := NULL, l := 1,
    l_kind := 'distinct', c := 3, t := 1.0, entity := NULL, suppressed := 'keep', seed := 42,
    eps := NULL, min_samples := NULL, loss := 'lil', noise := 'class', hierarchy := NULL,
    beta := NULL, delta := NULL, weights := NULL, format := 'label', strata := NULL,
    beta_kind := 'enhanced', max_share := NULL, exclude := NULL, bin_width := NULL, key := NULL,
    ordered := NULL
) AS TABLE
WITH __anon_found AS MATERIALIZED (
    SELECT __anon_release_dop_stats(__anon_buffer, __anon_row_numbers(__anon_rows), __anon_path_rows)
        AS __anon_stats
    FROM __anon_table(
        'dop', tbl, k, __anon_scope(tbl, system.main.struct_pack(
            quasi := quasi, sensitive := sensitive, identifiers := identifiers, keep := keep, l := l,
            t := t, entity := entity, beta := beta, delta := delta, max_share := max_share,
            exclude := exclude)),
        system.main.struct_insert(system.main.struct_pack(
            l_kind := l_kind, c := c, suppressed := suppressed, seed := seed, eps := eps,
            min_samples := min_samples, loss := loss, noise := noise, weights := weights, format :=
            format, strata := strata, beta_kind := beta_kind, bin_width := bin_width),
            key := __anon_choices_key('dop', key)),
        hierarchy, 'none')
)
SELECT unnest(__anon_stats) FROM __anon_found;
