-- The relations of composition: the rows of the persons, and the classes of each release.

-- Return a list of names as it is, and one name as a list.
CREATE OR REPLACE MACRO __anon_names(x) AS CASE
    WHEN system.main.typeof(x) = 'VARCHAR' THEN system.main.list_value(x::VARCHAR)
    ELSE TRY_CAST(x AS VARCHAR[])
END;

-- Return whether x is a name, or a list of at least one name.
CREATE OR REPLACE MACRO __anon_all_named(x) AS coalesce(
    system.main.len(__anon_names(x)) > 0
    AND system.main.len(__anon_names(x)) = system.main.list_count(__anon_names(x)), false);

-- Return one row, __anon_persons: one struct of lists, with the quasi-identifiers of the raw table,
-- the key of the id column as __anon_id_<name>, and __anon_count, the rows that are alike in these.
CREATE OR REPLACE MACRO __anon_person_rows(__anon_raw, __anon_id, __anon_call) AS TABLE
WITH
__anon_grouped AS (
    SELECT
        COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR __anon_binding_is_role('quasi', __anon_c, __anon_call)),
        __anon_key(COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR coalesce(__anon_fold(__anon_c) = __anon_fold(__anon_id::VARCHAR), false)))
            AS '__anon_id_\0',
        system.main.count(*) AS __anon_count
    FROM (SELECT *, 0::TINYINT AS __anon_zero FROM query_table(__anon_raw))
    GROUP BY ALL
),
__anon_listed AS (SELECT system.main.list(COLUMNS(*)) FROM __anon_grouped)
SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_persons FROM __anon_listed;

-- Return one row, __anon_part: the types and the classes of a release. Without a name, of the
-- caller's CTE __anon_no_release, which has no rows.
CREATE OR REPLACE MACRO __anon_part(__anon_raw, __anon_name, __anon_call) AS TABLE
SELECT system.main.struct_pack(types := __anon_types, groups := __anon_groups) AS __anon_part
FROM
    __anon_types(coalesce(__anon_name, '__anon_no_release')),
    __anon_class_groups(
        coalesce(__anon_name, '__anon_no_release'), __anon_raw, __anon_call, 'sensitive');
