-- The number of outliers that RAYDEN detects, recovers and returns on a table.
--
-- All arguments as in rayden: the same call reports on the same release.
-- Returns: one row: partitions, detected, recovered, returned, suppressed (rows that are *
--   in every quasi-identifier, shown or left out), orr (recovered share of the detected, NULL if there
--   are none), suppression_rate (0…1), classes (without the suppressed rows).
-- Errors: as in rayden.
-- Example: SELECT * FROM rayden_stats('people', k := 2, quasi := ['age', 'city']);
CREATE OR REPLACE MACRO rayden_stats(
    tbl, k := 5, quasi := NULL, sensitive := NULL, identifiers := NULL, keep := NULL,
    suppressed := 'keep', seed := 42, alpha := 2.0, vantage := 'random', cut := 'balanced',
    tries := 8, repair := 'cap', variant := 'rayden', unrecovered := 'return', hierarchy := NULL,
    threshold := NULL, weights := NULL, l := 1, l_kind := 'distinct', c := 3, t := 1.0,
    beta := NULL, delta := NULL, entity := NULL, format := 'label', strata := NULL,
    beta_kind := 'enhanced', max_share := NULL, exclude := NULL, bin_width := NULL, key := NULL,
    ordered := NULL
) AS TABLE
WITH __anon_found AS MATERIALIZED (
    SELECT __anon_release_recovery_stats(__anon_buffer, __anon_row_numbers(__anon_rows), __anon_path_rows)
        AS __anon_stats
    FROM __anon_table(
        'rayden', tbl, k, __anon_scope(tbl, system.main.struct_pack(
            quasi := quasi, sensitive := sensitive, identifiers := identifiers, keep := keep, l := l,
            t := t, beta := beta, delta := delta, entity := entity, max_share := max_share,
            exclude := exclude)),
        system.main.struct_insert(system.main.struct_pack(
            suppressed := suppressed, seed := seed, alpha := alpha, vantage := vantage, cut := cut,
            tries := tries, repair := repair, variant := variant, unrecovered := unrecovered,
            threshold := threshold, weights := weights, l_kind := l_kind, c := c, format := format,
            strata := strata, beta_kind := beta_kind, bin_width := bin_width, ordered := ordered),
            key := __anon_choices_key('rayden', key)),
        hierarchy, 'none')
)
SELECT unnest(__anon_stats) FROM __anon_found;
