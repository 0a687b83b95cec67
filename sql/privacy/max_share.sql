-- The largest share of one sensitive value in a class of a release. (α,k)-anonymity (Wong et al. 2006)
-- requires that it is at most α, the parameter max_share of release functions. NULL is a value.
-- Suppressed rows, shown as *, are a class; rows left out of the release publish no sensitive value
-- and are not a class.
--
-- raw: name of the raw table. released: name of its release, in any format. Without it, or if it
--   names sensitive columns, the first table is measured as it is: its cells are values, not labels.
-- sensitive: sensitive column or list of columns, in addition to those declared. The worst of
--   several columns is returned.
-- quasi: quasi-identifiers; NULL means the columns declared in comments on the raw table.
-- hierarchy: hierarchies that the release was made with; NULL for none.
-- Returns: DOUBLE, above 0 and at most 1; NULL for an empty release.
-- Errors: no quasi-identifier or sensitive column, one that the release lacks, a label that cannot
--   be read, raw and release swapped, sensitive values that the raw table lacks.
-- Example: SELECT max_share('people', 'release', 'illness', quasi := ['age', 'city']);
CREATE OR REPLACE MACRO max_share(
    raw, released := NULL, sensitive := NULL, quasi := NULL, hierarchy := NULL
) AS (
    WITH __anon_classed AS (
        FROM __anon_class_groups(
            __anon_measured(raw, released, __anon_alone(raw, released, sensitive)), raw,
            __anon_level_call(raw, released, quasi, sensitive), 'sensitive')
    )
    SELECT __anon_measures_worst_level_beside('max_share', __anon_given, __anon_groups, NULL)
    FROM
        __anon_given(
        raw, __anon_measured(raw, released, __anon_alone(raw, released, sensitive)),
        __anon_level_call(raw, released, quasi, sensitive), hierarchy, '__anon_classed',
        __anon_is_alone := __anon_alone(raw, released, sensitive)),
        __anon_key_groups(
            raw, __anon_measured(raw, released, __anon_alone(raw, released, sensitive)),
            __anon_level_call(raw, released, quasi, sensitive), 'sensitive')
);
