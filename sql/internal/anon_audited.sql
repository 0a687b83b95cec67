-- Both relations of an audit, so that their rows can be compared.
--
-- A kept value is a hash, which is all that is needed to see whether two are equal; columns are
-- cast to the types that hold both relations' values first, so that equal values hash alike.

-- A hash of a value, 0 for NULL. DuckDB's own runs lists together and takes
-- a month for 30 days, so nested values and intervals are hashed as text.
CREATE OR REPLACE MACRO __anon_audit_mark(x) AS if(x IS NULL, 0, system.main.hash(x, CASE
    WHEN system.main.regexp_full_match(
        system.main.typeof(x), '(?s)INTERVAL|(STRUCT|MAP|UNION|VARIANT).*|.*\]') THEN x::VARCHAR END));
CREATE OR REPLACE MACRO __anon_audit_marks(x) AS system.main.list(__anon_audit_mark(x));

-- held: values; consecutive: as many whole numbers as lie between the least and the greatest; hashed:
-- texts of 64 hexadecimal digits, as anon_pseudonym makes them.
CREATE OR REPLACE MACRO __anon_audit_look(x) AS {
    'held': system.main.count(x),
    'consecutive': coalesce(
        system.main.count(TRY_CAST(x AS DOUBLE)) = system.main.count(x)
        AND system.main.bool_and(TRY_CAST(x AS DOUBLE) = system.main.floor(TRY_CAST(x AS DOUBLE)))
        AND system.main.max(TRY_CAST(x AS DOUBLE)) - system.main.min(TRY_CAST(x AS DOUBLE)) + 1
            = system.main.count(x), false),
    'hashed': coalesce(system.main.bool_and(CASE WHEN system.main.typeof(x) = 'VARCHAR'
        THEN system.main.regexp_full_match(x::VARCHAR, '[0-9a-fA-F]{64}') END), false)};
CREATE OR REPLACE MACRO __anon_audit_ascends(x) AS coalesce(
    x > system.main.lag(x) OVER (), x IS NOT NULL);
-- Each value once, with its key and its hash.
CREATE OR REPLACE MACRO __anon_audit_values(x, __anon_hierarchy) AS
    system.main.list(DISTINCT system.main.struct_pack(
        key := __anon_key(x), mark := __anon_audit_mark(x),
        value := CASE WHEN __anon_hierarchy IS NOT NULL THEN x END));

-- One row: the raw table as lists, the classes of the release as lists, and all else.
CREATE OR REPLACE MACRO __anon_audited(
    __anon_raw, __anon_released, __anon_k, __anon_options, __anon_hierarchy, __anon_call
) AS TABLE
WITH
__anon_raw_columns AS NOT MATERIALIZED (
    SELECT
        COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR __anon_is('quasi', __anon_c, __anon_call)) AS '__anon_quasi_\0',
        COLUMNS(lambda __anon_c: NOT __anon_is('quasi', __anon_c, __anon_call))
    FROM (SELECT *, 0::TINYINT AS __anon_zero FROM query_table(__anon_raw))
),
__anon_released_columns AS NOT MATERIALIZED (
    SELECT
        COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR __anon_is('quasi', __anon_c, __anon_call)) AS '__anon_label_\0',
        COLUMNS(lambda __anon_c: NOT __anon_is('quasi', __anon_c, __anon_call))
    FROM (SELECT *, 0::TINYINT AS __anon_zero FROM query_table(__anon_released))
),
__anon_raw_alike AS NOT MATERIALIZED (
    FROM __anon_raw_columns
    UNION ALL BY NAME
    (SELECT COLUMNS(lambda __anon_c: __anon_c[:13] <> '__anon_label_')
     FROM __anon_released_columns LIMIT 0)
),
__anon_valued AS (
    SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_values
    FROM (
        SELECT __anon_audit_values(COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR __anon_is('sensitive', __anon_c, __anon_call)), __anon_hierarchy)
        FROM __anon_raw_alike WHERE __anon_options['t'] IS NOT NULL)
),
__anon_ascending AS (
    SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_ascends
    FROM (
        SELECT system.main.bool_and(COLUMNS(*))
        FROM (
            SELECT __anon_audit_ascends(COLUMNS(
                lambda __anon_c: __anon_c[:13] <> '__anon_quasi_'))
            FROM __anon_raw_columns))
),
__anon_looked_at AS (
    SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_looks
    FROM (
        SELECT __anon_audit_look(COLUMNS(lambda __anon_c: __anon_c[:13] <> '__anon_label_'))
        FROM __anon_released_columns)
),
__anon_raw_lists AS NOT MATERIALIZED (
    SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_raw_told
    FROM (
        SELECT
            system.main.list(COLUMNS('^__anon_quasi_')),
            __anon_audit_marks(COLUMNS(lambda __anon_c: __anon_c[:13] <> '__anon_quasi_'))
                AS '__anon_mark_\0'
        FROM __anon_raw_alike)
),
__anon_class_lists AS NOT MATERIALIZED (
    SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_class_told
    FROM (
        SELECT system.main.list(COLUMNS(*))
        FROM (
            SELECT
                COLUMNS('^__anon_label_'),
                __anon_audit_marks(COLUMNS(lambda __anon_c: __anon_c[:13] <> '__anon_label_'))
                    AS '__anon_marks_\0',
                system.main.count(*) AS __anon_size
            FROM (
                (SELECT COLUMNS(lambda __anon_c: __anon_c[:13] <> '__anon_quasi_')
                 FROM __anon_raw_columns LIMIT 0)
                UNION ALL BY NAME FROM __anon_released_columns)
            GROUP BY ALL))
),
__anon_asked_of AS (
    SELECT system.main.struct_pack(
        call := __anon_call, seen := __anon_seen(__anon_raw || ' ' || __anon_released),
        released := __anon_released, types := __anon_r.__anon_types,
        released_types := __anon_s.__anon_types, k := __anon_r.__anon_k_given,
        options := __anon_options, distinct_values := __anon_values, ascends := __anon_ascends,
        looks := __anon_looks, paths := __anon_path_rows,
        time_zone := system.main.current_setting('TimeZone')) AS __anon_asked
    FROM
        __anon_valued, __anon_ascending, __anon_looked_at,
        __anon_schema(__anon_raw, __anon_k) AS __anon_r,
        __anon_types(__anon_released) AS __anon_s, __anon_path_rows(__anon_hierarchy)
)
SELECT system.main.unnest(
    __anon_audit(__anon_asked, __anon_raw_told, __anon_class_told), recursive := true)
-- One row each; other joins and subqueries would copy the lists.
FROM
    __anon_raw_lists POSITIONAL JOIN __anon_class_lists POSITIONAL JOIN __anon_asked_of;
