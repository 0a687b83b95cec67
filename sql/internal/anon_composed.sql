-- What composition reads: the rows of the persons, and the classes of each release.

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
        coalesce(__anon_name, '__anon_no_release'), __anon_raw, __anon_call, 'tuple');

-- Return the scope of a call that takes several releases.
CREATE OR REPLACE MACRO __anon_composed_call(
    __anon_raw, __anon_quasi, __anon_sensitive, __anon_keep
) AS __anon_scope(__anon_raw, system.main.struct_pack(
    quasi := __anon_quasi, sensitive := __anon_sensitive, keep := __anon_keep, whole := true));

-- Return one row: __anon_read, the call; __anon_persons; __anon_parts, up to 12 releases.
-- __anon_parameter: the name under which the user lists releases.
CREATE OR REPLACE MACRO __anon_releases_read(
    __anon_function, __anon_parameter, __anon_raw, __anon_releases, __anon_id, __anon_hierarchy,
    __anon_call
) AS TABLE
WITH __anon_no_release AS (SELECT 0::TINYINT AS __anon_none WHERE false)
SELECT
    system.main.struct_pack(
        function := __anon_function, parameter := __anon_parameter, call := __anon_call,
        connection := system.main.current_connection_id(),
        seen := __anon_seen(__anon_raw || ' ' || __anon_releases[1]),
        types := __anon_types, releases := __anon_releases, id := __anon_id,
        paths := __anon_path_rows, time_zone := system.main.current_setting('TimeZone'))
        AS __anon_read,
    __anon_persons,
    system.main.struct_pack(
        r1 := __anon_1.__anon_part, r2 := __anon_2.__anon_part, r3 := __anon_3.__anon_part,
        r4 := __anon_4.__anon_part, r5 := __anon_5.__anon_part, r6 := __anon_6.__anon_part,
        r7 := __anon_7.__anon_part, r8 := __anon_8.__anon_part, r9 := __anon_9.__anon_part,
        r10 := __anon_10.__anon_part, r11 := __anon_11.__anon_part,
        r12 := __anon_12.__anon_part) AS __anon_parts
FROM
    __anon_types(__anon_raw),
    __anon_path_rows(__anon_hierarchy),
    __anon_person_rows(__anon_raw, __anon_id, __anon_call),
    __anon_part(__anon_raw, __anon_releases[1], __anon_call) AS __anon_1,
    __anon_part(__anon_raw, __anon_releases[2], __anon_call) AS __anon_2,
    __anon_part(__anon_raw, __anon_releases[3], __anon_call) AS __anon_3,
    __anon_part(__anon_raw, __anon_releases[4], __anon_call) AS __anon_4,
    __anon_part(__anon_raw, __anon_releases[5], __anon_call) AS __anon_5,
    __anon_part(__anon_raw, __anon_releases[6], __anon_call) AS __anon_6,
    __anon_part(__anon_raw, __anon_releases[7], __anon_call) AS __anon_7,
    __anon_part(__anon_raw, __anon_releases[8], __anon_call) AS __anon_8,
    __anon_part(__anon_raw, __anon_releases[9], __anon_call) AS __anon_9,
    __anon_part(__anon_raw, __anon_releases[10], __anon_call) AS __anon_10,
    __anon_part(__anon_raw, __anon_releases[11], __anon_call) AS __anon_11,
    __anon_part(__anon_raw, __anon_releases[12], __anon_call) AS __anon_12;
