-- The ledger of releases: its columns, and the people of a relation as keyed hashes.

CREATE OR REPLACE MACRO __anon_ledger_columns() AS TABLE
SELECT
    NULL::VARCHAR AS release, NULL::TIMESTAMP AS released_at, NULL::VARCHAR AS rows_sha256,
    NULL::JSON AS manifest, NULL::VARCHAR AS entity, NULL::VARCHAR AS entity_type,
    NULL::VARCHAR AS key_check, NULL::BIGINT AS persons, NULL::BLOB[] AS person_hashes,
    NULL::VARCHAR AS digest
WHERE false;

-- Return one row, __anon_told: the texts of the distinct values of entity, and their hashes.
CREATE OR REPLACE MACRO __anon_persons_of(
    __anon_function, __anon_tbl, __anon_entity, __anon_key, __anon_ledger := NULL
) AS TABLE
WITH
__anon_no_ledger AS NOT MATERIALIZED (FROM __anon_ledger_columns()),
__anon_listed AS (
    SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_lists
    FROM (
        SELECT system.main.list(DISTINCT COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR coalesce(__anon_fold(__anon_c) = __anon_fold(__anon_entity::VARCHAR), false))::VARCHAR)
            AS '\0'
        FROM (SELECT *, 0::TINYINT AS __anon_zero FROM query_table(__anon_tbl)))
)
SELECT __anon_ledger_hashed_persons(system.main.struct_pack(
    function := __anon_function, entity := __anon_entity, types := __anon_own.__anon_types,
    ledger := __anon_entries.__anon_types, columns := __anon_columns.__anon_types,
    lists := __anon_lists, connection := system.main.current_connection_id(),
    key := __anon_columns_hold_key(__anon_function, __anon_db(), __anon_key)))
    AS __anon_told
FROM
    __anon_listed, __anon_types(__anon_tbl) AS __anon_own,
    __anon_types('__anon_no_ledger') AS __anon_columns,
    __anon_types(coalesce(__anon_ledger, '__anon_no_ledger')) AS __anon_entries;

-- Return an entry, one struct, as its digest covers it: the time as a number, JSON as it is written.
CREATE OR REPLACE MACRO __anon_entry(__anon_e) AS system.main.struct_pack(
    release := __anon_e.release, released_at := system.main.epoch_us(__anon_e.released_at),
    rows_sha256 := __anon_e.rows_sha256, manifest := __anon_e.manifest::VARCHAR,
    entity := __anon_e.entity, entity_type := __anon_e.entity_type,
    key_check := __anon_e.key_check, persons := __anon_e.persons,
    person_hashes := __anon_e.person_hashes);

-- Return the entries of a ledger, __anon_entry; a relation that is none has NULL for what it lacks.
CREATE OR REPLACE MACRO __anon_ledger_entries(__anon_ledger) AS TABLE
SELECT __anon_e AS __anon_entry
FROM (FROM __anon_ledger_columns() UNION ALL BY NAME FROM query_table(__anon_ledger)) AS __anon_e;

-- Return one row, __anon_entries: the entries of a ledger as a list of what their digests cover, and
-- the digests.
CREATE OR REPLACE MACRO __anon_ledger_listed(__anon_ledger) AS TABLE
SELECT system.main.list(system.main.struct_insert(
    __anon_entry(__anon_entry), digest := __anon_entry.digest)) AS __anon_entries
FROM __anon_ledger_entries(__anon_ledger);

-- Return the rows of a table whose people no entry holds, with what __anon_ledger_waiting says: NULL
-- where enough of them are there, else how many people wait.
CREATE OR REPLACE MACRO __anon_ledger_new_rows(
    __anon_function, __anon_tbl, __anon_ledger, __anon_entity, __anon_key_given, __anon_k, __anon_l,
    __anon_sensitive
) AS TABLE
WITH
__anon_new AS MATERIALIZED (
    SELECT system.main.unnest(__anon_ledger_new_persons(__anon_told, __anon_entries))
        AS __anon_text
    FROM
        __anon_persons_of(
            __anon_function, __anon_tbl, __anon_entity, __anon_key_given, __anon_ledger),
        __anon_ledger_listed(__anon_ledger)
),
__anon_rows AS (
    SELECT *, COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
        OR coalesce(__anon_fold(__anon_c) = __anon_fold(__anon_entity::VARCHAR), false))::VARCHAR
        AS '__anon_person_\0'
    FROM (SELECT *, NULL::VARCHAR AS __anon_zero FROM query_table(__anon_tbl))
),
__anon_whose AS (
    SELECT *, system.main.concat(*COLUMNS('^__anon_person_')) AS __anon_person_of FROM __anon_rows
),
__anon_found AS (
    FROM __anon_whose SEMI JOIN __anon_new ON __anon_person_of = __anon_text
),
__anon_held AS (
    SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_values
    FROM (
        SELECT system.main.count(DISTINCT COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR (__anon_c[:7] <> '__anon_' AND __anon_binding_is_role(
                'sensitive', __anon_c, __anon_measure_call(__anon_tbl, NULL, __anon_sensitive)))))
            AS '\0'
        FROM __anon_found)
),
__anon_decided AS (
    SELECT __anon_ledger_waiting(
        system.main.struct_pack(
            function := __anon_function, k := __anon_k, l := __anon_l,
            sensitive := __anon_sensitive, types := __anon_own.__anon_types),
        (SELECT system.main.count(*) FROM __anon_new), __anon_values) AS __anon_waits
    FROM __anon_held, __anon_types(__anon_tbl) AS __anon_own
)
FROM __anon_decided LEFT JOIN __anon_found ON __anon_waits IS NULL;

-- Return one row, __anon_sha256: of the rows of a relation in any order, as JSON.
CREATE OR REPLACE MACRO __anon_rows_sha256(__anon_tbl) AS TABLE
WITH __anon_hashed AS (
    SELECT system.main.sha256(to_json(system.main.struct_pack(*COLUMNS(*)))::VARCHAR) AS __anon_row
    FROM query_table(__anon_tbl)
)
SELECT system.main.sha256(coalesce(
    system.main.string_agg(__anon_row, '' ORDER BY __anon_row), '')) AS __anon_sha256
FROM __anon_hashed;
