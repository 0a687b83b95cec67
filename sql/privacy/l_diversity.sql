-- The l of a release: the diversity of the sensitive values in the least diverse class
-- (Machanavajjhala et al. 2006). 'distinct' is the number of values; 'entropy' is exp(-sum p ln p),
-- not rounded; 'recursive' is the largest l with r1 < c * (r_l + ... + r_v), where r are the counts
-- of the values in descending order. NULL is not a value: a class of NULLs only has 0. Suppressed
-- rows, shown as *, are a class; rows left out of the release publish no sensitive value and are
-- not a class.
--
-- raw: name of the raw table. released: name of its release, in any format. Without it, or if it
--   names sensitive columns, the first table is measured as it is: its cells are values, not labels.
-- sensitive: sensitive column or list of columns, in addition to those declared. Each column is
--   measured by itself, and the worst is returned. kind: 'distinct', 'entropy' or 'recursive'. c:
--   the constant of 'recursive'.
-- quasi: quasi-identifiers; NULL means the columns declared in comments on the raw table.
-- hierarchy: hierarchies that the release was made with; NULL for none.
-- Returns: DOUBLE; a whole number except for 'entropy'; NULL for an empty release.
-- Errors: no quasi-identifier or sensitive column, one that the release lacks, a label that cannot
--   be read, raw and release swapped, an unknown kind, a c that is not above 0.
-- Example: SELECT l_diversity('people', 'release', 'illness', quasi := ['age', 'city']);
CREATE OR REPLACE MACRO l_diversity(
    raw, released := NULL, sensitive := NULL, kind := 'distinct', c := 3, quasi := NULL, hierarchy := NULL
) AS (
    WITH __anon_classed AS (
        FROM __anon_class_groups(
            __anon_measured(raw, released, __anon_alone(raw, released, sensitive)), raw,
            __anon_level_call(raw, released, quasi, sensitive), 'sensitive')
    )
    SELECT __anon_measures_worst_level(
        'l_diversity', __anon_given, system.main.struct_pack(kind := kind, c := c))
    FROM __anon_given(
        raw, __anon_measured(raw, released, __anon_alone(raw, released, sensitive)),
        __anon_level_call(raw, released, quasi, sensitive), hierarchy, '__anon_classed',
        __anon_is_alone := __anon_alone(raw, released, sensitive))
);
