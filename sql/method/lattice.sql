-- The nodes of the generalization lattice that full_domain looks at: one row per combination of
-- levels, with what it loses and whether it is legal.
--
-- All arguments but like and bin_width as in full_domain: the same call lists the nodes of the same
--   release. Columns without a role are ignored. Losses are those of the values that rows are grouped
--   by, so that bin_width, which labels show, is not taken.
-- Returns: levels (MAP of column to level, 0 for the values themselves), loss (GCP, 0…1, of the node
--   with its suppressed rows), suppressed (rows), classes (that are not suppressed), legal, best
--   (true for the node that full_domain releases). The levels are searched by halves, so that the
--   rows are those nodes that it takes to be sure of the best one. suppressed of a node that is not
--   legal counts what is known to be illegal.
-- Errors: as in full_domain.
-- Example: SELECT * FROM lattice('people', k := 2, quasi := ['age', 'city'], hierarchy := 'people_hierarchy') ORDER BY loss;
CREATE OR REPLACE MACRO lattice(
    tbl, k := 5, quasi := NULL, sensitive := NULL, identifiers := NULL, keep := NULL, l := 1,
    l_kind := 'distinct', c := 3, t := 1.0, entity := NULL, suppressed := 'keep', hierarchy := NULL,
    suppression_limit := 0, minimize := 'gcp', beta := NULL, delta := NULL, strata := NULL,
    format := 'label', seed := 42, beta_kind := 'enhanced', max_share := NULL, exclude := NULL,
    ordered := NULL
) AS TABLE
SELECT unnest(__anon_one)
FROM (
    SELECT unnest(__anon_release_lattice(__anon_buffer, __anon_row_numbers(__anon_rows), __anon_path_rows))
        AS __anon_one
    FROM __anon_table(
        'lattice', tbl, k, __anon_scope(tbl, system.main.struct_pack(
            quasi := quasi, sensitive := sensitive, identifiers := identifiers, keep := keep, l := l,
            t := t, entity := entity, beta := beta, delta := delta, max_share := max_share,
            exclude := exclude)),
        system.main.struct_pack(
            l_kind := l_kind, c := c, suppressed := suppressed,
            suppression_limit := suppression_limit, minimize := minimize, strata := strata,
            format := format, seed := seed, beta_kind := beta_kind, ordered := ordered),
        hierarchy, 'none'));
