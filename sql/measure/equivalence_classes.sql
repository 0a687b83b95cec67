-- The equivalence classes of a release: labels, size, loss, and number of sensitive values.
--
-- raw: name of the raw table. released: name of its release, in any format.
-- quasi: the quasi-identifiers; NULL means the columns declared in comments on the raw table.
-- sensitive: sensitive column or list of columns, in addition to those declared.
-- hierarchy: hierarchies that the release was made with; NULL for none.
-- Returns: a row per class: the quasi-identifiers as in the release, size (rows), ncp (mean over
--   the quasi-identifiers, 0…1; NULL if one shows means or medians), distinct_<name> (number of
--   distinct values of each sensitive column, without NULL). Rows shown as * are a class; rows left
--   out of the release have no labels and are not listed.
-- Errors: no quasi-identifier, one that the release lacks or that has the name of a column of the
--   result, a label that cannot be read, raw and release swapped.
-- Example: SELECT * FROM equivalence_classes('people', 'release', quasi := ['age', 'city']);
CREATE OR REPLACE MACRO equivalence_classes(
    raw, released, quasi := NULL, sensitive := NULL, hierarchy := NULL
) AS TABLE
WITH
__anon_grouped AS (
    SELECT
        COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR __anon_binding_is_role('quasi', __anon_c, __anon_measure_call(raw, quasi, sensitive))),
        system.main.count(DISTINCT COLUMNS(lambda __anon_c: __anon_c = '__anon_none'
            OR __anon_binding_is_role('sensitive', __anon_c, __anon_measure_call(raw, quasi, sensitive))))
            AS '__anon_distinct_\0',
        system.main.count(*) AS __anon_count
    FROM (SELECT *, 0::TINYINT AS __anon_zero, 0::TINYINT AS __anon_none FROM query_table(released))
    GROUP BY ALL
),
__anon_listed AS (SELECT system.main.list(COLUMNS(*)) FROM __anon_grouped),
__anon_classed AS (
    SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_groups FROM __anon_listed
),
__anon_lost AS (
    SELECT
        __anon_given.groups AS __anon_groups,
        __anon_measures_class_ncp('equivalence_classes', __anon_given, ['size', 'ncp']) AS __anon_ncp
    FROM __anon_given(
        raw, released, __anon_measure_call(raw, quasi, sensitive), hierarchy, '__anon_classed')
),
__anon_lists AS (SELECT unnest(__anon_groups), __anon_ncp FROM __anon_lost)
SELECT * EXCLUDE (__anon_zero, distinct___anon_none)
FROM (
    SELECT
        unnest(COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR NOT system.main.starts_with(__anon_c, '__anon_'))),
        unnest(__anon_count) AS size,
        unnest(__anon_ncp) AS ncp,
        unnest(COLUMNS('^__anon_(distinct_.*)$')) AS '\1'
    FROM __anon_lists);
