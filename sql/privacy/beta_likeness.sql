-- The β of a release: the smallest β for which it satisfies enhanced or basic β-likeness (Cao and
-- Karras 2012). With p the share of a sensitive value in the raw table and q its share in a class, it
-- is the largest (q - p) / p over all classes and values. No enhanced β allows a gain above -ln p: the
-- result is then infinite. NULL is a value. Suppressed rows, shown as *, are a class; rows left out of
-- the release publish no sensitive value and are not a class, but count in the raw table.
--
-- raw: name of the raw table. released: name of its release, in any format. Without it, or if it
--   names sensitive columns, the first table is measured as it is: its cells are values, not labels.
-- sensitive: sensitive column or list of columns, in addition to those declared. The worst of
--   several columns is returned.
-- quasi: quasi-identifiers; NULL means the columns declared in comments on the raw table.
-- hierarchy: hierarchies that the release was made with; NULL for none.
-- kind: 'enhanced', or 'basic' without the limit -ln p.
-- Returns: DOUBLE, 0 and above; infinity where a gain is above -ln p and kind is 'enhanced'; NULL for
--   an empty release.
-- Errors: no quasi-identifier or sensitive column, one that the release lacks, a label that cannot
--   be read, raw and release swapped, sensitive values that the raw table lacks, an unknown
--   kind.
-- Example: SELECT beta_likeness('people', 'release', 'illness', quasi := ['age', 'city']);
CREATE OR REPLACE MACRO beta_likeness(
    raw, released := NULL, sensitive := NULL, quasi := NULL, hierarchy := NULL, kind := 'enhanced'
) AS (
    WITH __anon_classed AS (
        FROM __anon_class_groups(
            __anon_measured(raw, released, __anon_alone(raw, released, sensitive)), raw,
            __anon_level_call(raw, released, quasi, sensitive), 'sensitive')
    )
    SELECT __anon_measures_worst_level_beside(
        'beta_likeness', __anon_given, __anon_groups, system.main.struct_pack(kind := kind))
    FROM
        __anon_given(
        raw, __anon_measured(raw, released, __anon_alone(raw, released, sensitive)),
        __anon_level_call(raw, released, quasi, sensitive), hierarchy, '__anon_classed',
        __anon_is_alone := __anon_alone(raw, released, sensitive)),
        __anon_key_groups(
            raw, __anon_measured(raw, released, __anon_alone(raw, released, sensitive)),
            __anon_level_call(raw, released, quasi, sensitive), 'sensitive')
);
