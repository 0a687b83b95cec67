-- A release by SDkA (Majeed and Hwang 2025), which adds rows: rare sensitive values get synthetic
-- records, k-means clusters real and synthetic rows, and each class has k real rows and l real
-- sensitive values. The method is perturbative; sdka_stats reports the number of added rows.
--
-- As in every release: tbl, quasi, sensitive, identifiers, keep, l_kind, c, t, entity, seed, beta,
--   delta, beta_kind, max_share, exclude, ordered.
-- k: minimum number of rows in an equivalence class. Synthetic rows do not count.
-- l: minimum diversity of each sensitive column in a class. Only real rows count, also for t, beta
--   and delta.
-- format: 'label' (text), 'typed' (structs and lists), or 'mean', 'median' or 'midpoint' (one value
--   per class instead of a range of numbers, dates or times). 'mean' and 'median' are refused
--   because the method adds rows.
-- suppressed: 'keep' shows suppressed rows as *; 'drop' leaves them out. This function suppresses
--   no rows on request: 'drop' is refused if a class is * in every quasi-identifier.
-- generator: 'ctgan' (extra ctgan, under the Business Source License) or 'bootstrap', which mixes
--   real rows.
-- epochs: number of epochs for which CTGAN trains.
-- target_ratio: synthetic records of a sensitive value are added until the most frequent value has
--   at most this many times its rows.
-- dominant: a value that all rows of a class share is shown only if at least this share of the real
--   rows has it; a rarer value is generalized by at least one level of its hierarchy. 0 shows every
--   shared value.
-- numbers: label of a number: 'range' of the real rows of the class, or 'centre', the value nearest
--   to their mean, which most rows do not have.
-- hierarchy: relation that holds generalization hierarchies, with the columns attribute, value,
--   level and label; NULL for none. Columns in it are labelled by its nodes.
-- key: secret key, as in anon_pseudonym: random choices depend on it and on the seed, and cannot be
--   repeated without it; NULL for none.
-- Returns: the columns of the source without the identifiers; quasi-identifiers are generalized.
--   There are more rows than in the source. The release does not show which rows are synthetic;
--   none equals a real row.
-- Errors: a column without a role, no quasi-identifier, no sensitive column, k above the number of
--   rows, an extra that is not installed (ml is always needed), too few records that differ from
--   real rows, unknown columns or options.
-- Example: SELECT * FROM sdka('people', k := 2, quasi := ['age', 'city'], sensitive := 'illness', generator := 'bootstrap');
CREATE OR REPLACE MACRO sdka(
    tbl, k := 5, quasi := NULL, sensitive := NULL, identifiers := NULL, keep := NULL, l := 2,
    l_kind := 'distinct', c := 3, t := 1.0, entity := NULL, format := 'label', suppressed := 'keep',
    seed := 42, generator := 'ctgan', epochs := 10, target_ratio := 2.0, dominant := 0.9,
    numbers := 'range', hierarchy := NULL, beta := NULL, delta := NULL, beta_kind := 'enhanced',
    max_share := NULL, exclude := NULL, key := NULL, ordered := NULL
) AS TABLE
WITH __anon_mixed AS MATERIALIZED (
    FROM __anon_synthesized('sdka', tbl, k, __anon_scope(tbl, system.main.struct_pack(
        quasi := quasi, sensitive := sensitive, identifiers := identifiers, keep := keep, l := l,
        t := t, entity := entity, beta := beta, delta := delta, max_share := max_share,
        exclude := exclude)), system.main.struct_insert(system.main.struct_pack(
            l_kind := l_kind, c := c, format := format, suppressed := suppressed, seed := seed,
            generator := generator, epochs := epochs, target_ratio := target_ratio,
            dominant := dominant, numbers := numbers, beta_kind := beta_kind, ordered := ordered),
            key := __anon_choices_key('sdka', key)), true)
)
FROM __anon_release(
    'sdka', tbl, k, __anon_scope(tbl, system.main.struct_pack(
        quasi := quasi, sensitive := sensitive, identifiers := identifiers, keep := keep, l := l,
        t := t, entity := entity, beta := beta, delta := delta, max_share := max_share,
        exclude := exclude)),
    format, system.main.struct_insert(system.main.struct_pack(
        l_kind := l_kind, c := c, format := format, suppressed := suppressed, seed := seed,
        generator := generator, epochs := epochs, target_ratio := target_ratio,
        dominant := dominant, numbers := numbers, beta_kind := beta_kind, ordered := ordered),
        key := __anon_choices_key('sdka', key)),
    __anon_hierarchy := hierarchy, __anon_from := '__anon_mixed');
