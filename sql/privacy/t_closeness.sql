-- The t of a release: the largest distance between the distribution of the sensitive values in a
-- class and in the raw table (Li et al. 2007, earth mover's distance). The ground distance of
-- adjacent numbers, dates and times is 1 / (values - 1), and so it is for the columns of ordered. For
-- all other types, and for a column with NULLs, which are a value, every ground distance is 1. For a
-- column of the hierarchy it is the
-- height of the lowest common ancestor / the height of the tree, and NULL is a child of the root.
-- Suppressed rows, shown as *, are a class; rows left out of the release publish no sensitive value
-- and are not a class, but count in the raw table.
--
-- raw: name of the raw table. released: name of its release, in any format. Without it, or if it
--   names sensitive columns, the first table is measured as it is: its cells are values, not labels.
-- sensitive: sensitive column or list of columns, in addition to those declared. The worst of
--   several columns is returned.
-- quasi: quasi-identifiers; NULL means the columns declared in comments on the raw table.
-- hierarchy: the hierarchy table that the release was made with, which may have sensitive columns
--   too; NULL for none.
-- ordered: columns of type ENUM whose values have an order, that of the type; NULL for none.
-- Returns: DOUBLE, 0…1; NULL for an empty release.
-- Errors: no quasi-identifier or sensitive column, one that the release lacks, a label that cannot
--   be read, raw and release swapped, sensitive values that the raw table or the hierarchy lacks.
-- Example: SELECT t_closeness('people', 'release', 'illness', quasi := ['age', 'city']);
CREATE OR REPLACE MACRO t_closeness(
    raw, released := NULL, sensitive := NULL, quasi := NULL, hierarchy := NULL,
    ordered := NULL
) AS (
    WITH __anon_classed AS (
        FROM __anon_class_groups(
            __anon_measured(raw, released, __anon_alone(raw, released, sensitive)), raw,
            __anon_level_call(raw, released, quasi, sensitive), 'sensitive')
    )
    SELECT __anon_measures_worst_level_beside(
        't_closeness', __anon_given, __anon_groups, system.main.struct_pack(ordered := ordered))
    FROM
        __anon_given(
        raw, __anon_measured(raw, released, __anon_alone(raw, released, sensitive)),
        __anon_level_call(raw, released, quasi, sensitive), hierarchy, '__anon_classed',
        __anon_is_alone := __anon_alone(raw, released, sensitive)),
        __anon_key_groups(
            raw, __anon_measured(raw, released, __anon_alone(raw, released, sensitive)),
            __anon_level_call(raw, released, quasi, sensitive), 'sensitive',
            __anon_valued := hierarchy IS NOT NULL)
);
