-- The synthetic rows and the classes of SDkA on a table. A release must not show which rows are
-- synthetic, so these figures are for people who may see the table: `added` shows sensitive values,
-- and it weakens the protection of the others.
--
-- All arguments as in sdka: the same call reports on the same release.
-- Returns: one row: real_rows, synthetic_rows, added (attribute, value as text and rows of each
--   sensitive value among the synthetic rows), clusters (of k-means), merged (clusters that were
--   merged into another), classes (of labels), smallest_class (real rows), iloss (Byun et al. 2007:
--   the sum over rows and quasi-identifiers, each 0…1), gcp (0…1), both from the values of the real
--   rows for any `numbers`.
-- Errors: as in sdka.
-- Example: SELECT * FROM sdka_stats('people', k := 2, quasi := ['age', 'city'], sensitive := 'illness', generator := 'bootstrap');
CREATE OR REPLACE MACRO sdka_stats(
    tbl, k := 5, quasi := NULL, sensitive := NULL, identifiers := NULL, keep := NULL, l := 2,
    l_kind := 'distinct', c := 3, t := 1.0, entity := NULL, seed := 42, generator := 'ctgan',
    epochs := 10, target_ratio := 2.0, dominant := 0.9, numbers := 'range', hierarchy := NULL,
    beta := NULL, delta := NULL, format := 'label', suppressed := 'keep', beta_kind := 'enhanced',
    max_share := NULL, exclude := NULL, key := NULL, ordered := NULL
) AS TABLE
WITH
__anon_mixed AS MATERIALIZED (
    FROM __anon_synthesized('sdka', tbl, k, __anon_scope(tbl, system.main.struct_pack(
        quasi := quasi, sensitive := sensitive, identifiers := identifiers, keep := keep, l := l,
        t := t, entity := entity, beta := beta, delta := delta, max_share := max_share,
        exclude := exclude)), system.main.struct_insert(system.main.struct_pack(
            l_kind := l_kind, c := c, seed := seed, generator := generator, epochs := epochs,
            target_ratio := target_ratio, dominant := dominant, numbers := numbers,
            format := format, suppressed := suppressed, beta_kind := beta_kind,
            ordered := ordered),
            key := __anon_choices_key('sdka', key)), false)
),
__anon_added AS (
    SELECT system.main.list(COLUMNS(lambda __anon_c: __anon_c = '__anon_made' OR __anon_binding_is_role(
        'sensitive', __anon_c, __anon_scope(tbl, system.main.struct_pack(
            quasi := quasi, sensitive := sensitive, identifiers := identifiers, keep := keep, l := l,
            t := t, entity := entity, beta := beta, delta := delta, max_share := max_share,
            exclude := exclude)))))
    FROM __anon_mixed WHERE __anon_made = 1
),
__anon_listed AS (SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_values FROM __anon_added),
__anon_found AS MATERIALIZED (
    SELECT __anon_release_sdka_stats(
        __anon_buffer, __anon_row_numbers(__anon_rows), __anon_path_rows, __anon_types,
        __anon_values) AS __anon_stats
    FROM __anon_listed, __anon_schema(tbl, k), __anon_table(
    'sdka', tbl, k, __anon_scope(tbl, system.main.struct_pack(
        quasi := quasi, sensitive := sensitive, identifiers := identifiers, keep := keep, l := l,
        t := t, entity := entity, beta := beta, delta := delta, max_share := max_share,
        exclude := exclude)), system.main.struct_insert(system.main.struct_pack(
            l_kind := l_kind, c := c, seed := seed, generator := generator, epochs := epochs,
            target_ratio := target_ratio, dominant := dominant, numbers := numbers,
            format := format, suppressed := suppressed, beta_kind := beta_kind,
            ordered := ordered),
            key := __anon_choices_key('sdka', key)),
    hierarchy, 'none', __anon_from := '__anon_mixed')
)
SELECT unnest(__anon_stats) FROM __anon_found;
