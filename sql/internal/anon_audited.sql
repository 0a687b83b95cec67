-- Both relations of an audit, so that their rows can be compared.
--
-- A kept value is a hash, which is all that is needed to see whether two are equal; columns are
-- cast to the types that hold both relations' values first, so that equal values hash alike.

-- present: values; hashed: texts of 64 hexadecimal digits, as anon_pseudonym makes them.
CREATE OR REPLACE MACRO __anon_audit_look(x) AS {
    'present': system.main.count(x),
    'hashed': coalesce(system.main.bool_and(CASE WHEN system.main.typeof(x) = 'VARCHAR'
        THEN system.main.regexp_full_match(x::VARCHAR, '[0-9a-fA-F]{64}') END), false)};
-- numbers: values that are numbers; whole: whether all of these are whole; span: how many whole numbers
-- lie between the least and the greatest. x: a column of DOUBLE. Casts in here would cost the square of
-- the number of columns.
CREATE OR REPLACE MACRO __anon_audit_span(x) AS {
    'numbers': system.main.count(x),
    'whole': system.main.bool_and(x = system.main.floor(x)),
    'span': system.main.max(x) - system.main.min(x) + 1};
CREATE OR REPLACE MACRO __anon_audit_ascends(x) AS coalesce(
    x > system.main.lag(x) OVER (), x IS NOT NULL);
-- Each value once, with its key and its hash.
CREATE OR REPLACE MACRO __anon_audit_values(x, __anon_hierarchy) AS
    system.main.list(DISTINCT system.main.struct_pack(
        key := __anon_key(x), mark := __anon_audit_mark(x),
        value := CASE WHEN __anon_hierarchy IS NOT NULL THEN x END));

-- Return a regular expression of the names that do not begin with __anon_q. A lambda would copy the
-- list of all names for every column.
CREATE OR REPLACE MACRO __anon_unlabelled() AS
    '^($|[^_]|_($|[^_]|_($|[^a]|a($|[^n]|n($|[^o]|o($|[^n]|n($|[^_]|_($|[^q]))))))))';

-- The rows of an audit.
CREATE OR REPLACE MACRO __anon_audited(
    __anon_raw, __anon_released, __anon_k, __anon_options, __anon_hierarchy, __anon_call,
    __anon_series := NULL
) AS TABLE
WITH
__anon_raw_columns AS NOT MATERIALIZED (
    SELECT
        COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR __anon_binding_is_role('quasi', __anon_c, __anon_call)) AS '__anon_quasi_\0',
        COLUMNS(lambda __anon_c: NOT __anon_binding_is_role('quasi', __anon_c, __anon_call))
    FROM (SELECT *, 0::TINYINT AS __anon_zero FROM query_table(__anon_raw))
),
__anon_released_columns AS NOT MATERIALIZED (
    SELECT
        COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR __anon_binding_is_role('quasi', __anon_c, __anon_call)) AS '__anon_quasi_\0',
        COLUMNS(lambda __anon_c: NOT __anon_binding_is_role('quasi', __anon_c, __anon_call))
    FROM (SELECT *, 0::TINYINT AS __anon_zero FROM query_table(__anon_released))
),
__anon_raw_alike AS NOT MATERIALIZED (
    FROM __anon_raw_columns
    UNION ALL BY NAME
    (SELECT COLUMNS(__anon_unlabelled())
     FROM __anon_released_columns LIMIT 0)
),
__anon_valued AS (
    SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_values
    FROM (
        SELECT __anon_audit_values(COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR __anon_binding_is_role('sensitive', __anon_c, __anon_call)), __anon_hierarchy)
        FROM __anon_raw_alike WHERE __anon_options['t'] IS NOT NULL)
),
__anon_ascending AS (
    SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_ascends
    FROM (
        SELECT system.main.bool_and(COLUMNS(*))
        FROM (
            SELECT __anon_audit_ascends(COLUMNS(__anon_unlabelled()))
            FROM __anon_raw_columns))
),
__anon_looked_at AS (
    SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_looks
    FROM (
        SELECT __anon_audit_look(COLUMNS(__anon_unlabelled()))
        FROM __anon_released_columns)
),
__anon_spanned AS (
    SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_spans
    FROM (
        SELECT __anon_audit_span(COLUMNS(*))
        FROM (
            SELECT TRY_CAST(COLUMNS(__anon_unlabelled()) AS DOUBLE)
            FROM __anon_released_columns))
),
-- The first rows of the columns without a label, among which the core looks for identifiers.
__anon_first_rows AS MATERIALIZED (
    SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_firsts
    FROM (
        SELECT __anon_looked(COLUMNS(__anon_unlabelled()), 0)
        FROM (FROM __anon_raw_columns LIMIT 2000))
),
-- The core checks the call, and holds what it needs of each row while DuckDB reads it; no row is
-- left.
__anon_begun AS MATERIALIZED (
    SELECT __anon_audit_begin(
        system.main.struct_pack(
            call := __anon_call, seen := __anon_seen(__anon_raw || ' ' || __anon_released),
            released := __anon_released, types := __anon_r.__anon_types,
            released_types := __anon_s.__anon_types, k := __anon_r.__anon_k_given,
            options := __anon_options, series := __anon_series IS NOT NULL,
            firsts := __anon_firsts),
        system.main.current_connection_id(), system.main.current_query_id()) AS __anon_reading
    FROM
        __anon_schema(__anon_raw, __anon_k) AS __anon_r, __anon_types(__anon_released) AS __anon_s,
        __anon_first_rows
),
__anon_raw_read AS NOT MATERIALIZED (
    SELECT system.main.any_value(__anon_row) FILTER (
        __anon_audit_take(__anon_reading, false, __anon_row)) AS __anon_raw_row,
        system.main.count(*) AS __anon_raw_rows
    FROM
        (SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_row
         FROM (
            SELECT
                COLUMNS('^__anon_quasi_'),
                __anon_audit_mark(COLUMNS(*)) AS '__anon_mark_\0'
            FROM __anon_raw_alike)),
        __anon_begun
),
__anon_released_read AS NOT MATERIALIZED (
    SELECT system.main.any_value(__anon_row) FILTER (
        __anon_audit_take(__anon_reading, true, __anon_row)) AS __anon_released_row,
        system.main.count(*) AS __anon_released_rows
    FROM
        (SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_row
         FROM (
            SELECT
                COLUMNS('^__anon_quasi_'),
                __anon_audit_mark(COLUMNS(*)) AS '__anon_mark_\0'
            FROM (
                (SELECT COLUMNS(__anon_unlabelled())
                 FROM __anon_raw_columns LIMIT 0)
                UNION ALL BY NAME FROM __anon_released_columns))),
        __anon_begun
),
__anon_whole_of AS (
    SELECT system.main.struct_pack(
        distinct_values := __anon_values, ascends := __anon_ascends, looks := __anon_looks,
        spans := __anon_spans,
        paths := __anon_path_rows,
        threads := system.main.current_setting('threads'),
        time_zone := system.main.current_setting('TimeZone')) AS __anon_whole
    FROM
        __anon_valued, __anon_ascending, __anon_looked_at, __anon_spanned,
        __anon_path_rows(__anon_hierarchy)
)
SELECT system.main.unnest(
    __anon_audit_findings(
        __anon_reading, __anon_whole, __anon_raw_row, __anon_released_row,
        __anon_raw_rows, __anon_released_rows),
    recursive := true)
FROM __anon_begun, __anon_whole_of, __anon_raw_read, __anon_released_read;
