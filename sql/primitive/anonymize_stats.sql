-- The rows that anonymize suppresses on a table, why, and what that saves; counts and losses only.
--
-- All arguments but bin_width as in anonymize: the same call reports on the same release, unless a
--   time_limit ends a search. Losses are those of the values that rows are grouped by, so that bin_width,
--   which labels show, is not taken.
-- Returns: one row: rows, allowed (rows that suppression_limit lets be suppressed), costly (rows
--   that cost their class more than a suppressed row loses, before any is suppressed), suppressed
--   (rows that are * in every quasi-identifier, shown or left out), suppression_rate (0…1),
--   gcp_without and gcp (the loss of all rows without and with suppression, by the weights of the
--   columns, a suppressed row losing 1), saved (their difference), gcp_of_rest (of the rows that
--   are not suppressed), refused (partitions that lost less, but whose suppressed rows are not a
--   legal class), classes (without the suppressed rows), reason (why these rows, or why none).
-- Errors: as in anonymize.
-- Example: SELECT * FROM anonymize_stats('people', k := 2, quasi := ['age', 'city'], suppression_limit := 0.1);
CREATE OR REPLACE MACRO anonymize_stats(
    tbl, k := 5, quasi := NULL, sensitive := NULL, identifiers := NULL, keep := NULL, l := 1,
    l_kind := 'distinct', c := 3, t := 1.0, entity := NULL, suppressed := 'keep', seed := 42,
    effort := 'good', time_limit := 30, rounds := NULL, hierarchy := NULL, beta := NULL,
    delta := NULL, strata := NULL, weights := NULL, suppression_limit := NULL, format := 'label',
    beta_kind := 'enhanced', max_share := NULL, exclude := NULL, key := NULL, ordered := NULL
) AS TABLE
WITH __anon_found AS MATERIALIZED (
    SELECT __anon_release_anonymize_stats(__anon_buffer, __anon_row_numbers(__anon_rows), __anon_path_rows)
        AS __anon_stats
    FROM __anon_table(
        'anonymize', tbl, k, __anon_scope(tbl, system.main.struct_pack(
            quasi := quasi, sensitive := sensitive, identifiers := identifiers, keep := keep, l := l,
            t := t, entity := entity, beta := beta, delta := delta, max_share := max_share,
            exclude := exclude)),
        system.main.struct_insert(system.main.struct_pack(
            l_kind := l_kind, c := c, suppressed := suppressed, seed := seed, effort := effort,
            time_limit := time_limit, rounds := rounds, strata := strata, weights := weights,
            suppression_limit := suppression_limit, format := format, beta_kind := beta_kind,
            ordered := ordered),
            key := __anon_choices_key('anonymize', key)),
        hierarchy, 'none')
)
SELECT unnest(__anon_stats) FROM __anon_found;
