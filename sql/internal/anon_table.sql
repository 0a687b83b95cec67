-- Pass the rows of one relation to the core while DuckDB reads them. Returns one row: __anon_buffer,
-- the number of the buffer in which the core stores the rows; __anon_rows, a list with an entry per row: its
-- number in the core (number) and the columns that stay in DuckDB (kept); __anon_path_rows, the
-- rows of the hierarchy; __anon_looks, what suggestions need of the columns that only a * releases,
-- NULL without any. At the end stand the structs that describe a call.

CREATE OR REPLACE MACRO __anon_settings() AS system.main.struct_pack(
    threads := system.main.current_setting('threads'),
    memory_limit := system.main.current_setting('memory_limit'),
    time_zone := system.main.current_setting('TimeZone'));

-- Return whether a column stays in DuckDB. out: 'kept', the columns that are released unchanged, whose
-- names begin with __anon_kept_; 'all', every column; 'none'.
CREATE OR REPLACE MACRO __anon_rests(__anon_out, __anon_c) AS
    CASE __anon_out
        WHEN 'kept' THEN system.main.starts_with(__anon_c, '__anon_kept_')
        WHEN 'all' THEN NOT system.main.starts_with(__anon_c, '__anon_')
        ELSE system.main.starts_with(system.main.lower(__anon_c), '__anon_zero') END;
-- Return whether a column is passed to the core.
CREATE OR REPLACE MACRO __anon_goes(__anon_c) AS
    __anon_c IN ('__anon_hash', '__anon_made')
    OR system.main.regexp_matches(__anon_c, '^__anon_(from|key)_')
        AND NOT system.main.ends_with(__anon_c, '_zero');

-- from: the relation that is read; NULL for the table itself. A method that adds synthetic rows marks
-- them by __anon_made = 1.
CREATE OR REPLACE MACRO __anon_table(
    __anon_function, __anon_tbl, __anon_k, __anon_call, __anon_options, __anon_hierarchy,
    __anon_out, __anon_from := NULL
) AS TABLE
WITH
__anon_begun AS MATERIALIZED (
    SELECT __anon_rows_begin(
        __anon_function, __anon_types, __anon_k_given, __anon_call, __anon_seen(__anon_tbl),
        __anon_options, __anon_settings(), __anon_out = 'kept',
        system.main.current_connection_id(), system.main.current_query_id(),
        system.main.list_value(
            __anon_sort_key_is_ours(),
            __anon_bytes('a') = 'a'::BLOB, __anon_bytes(7) = 7, __anon_told_apart('a') IS NULL, __anon_told_apart(-0.0::DOUBLE) = '-0.0',
            NOT __anon_hashes_apart(system.main.list_value('a')))::TINYINT[]) AS __anon_buffer
    FROM __anon_schema(__anon_tbl, __anon_k)
),
__anon_named AS (
    SELECT
        *,
        COLUMNS(lambda __anon_c: __anon_binding_is_role('kept', __anon_c, __anon_call)) AS '__anon_kept_\0',
        COLUMNS(lambda __anon_c: __anon_binding_is_role('taken', __anon_c, __anon_call)) AS '__anon_from_\0',
        __anon_sort_key(COLUMNS(lambda __anon_c: __anon_binding_is_role('protected', __anon_c, __anon_call)))
            AS '__anon_key_\0'
    FROM (
        SELECT *, 0::TINYINT AS __anon_zero FROM query_table(coalesce(__anon_from, __anon_tbl)))
),
__anon_read AS (
    SELECT
        __anon_rows_append(__anon_buffer, system.main.struct_pack(*COLUMNS(lambda __anon_c:
            __anon_goes(__anon_c)))) AS __anon_row_number,
        system.main.struct_pack(*COLUMNS(lambda __anon_c: __anon_rests(__anon_out, __anon_c)))
            AS __anon_kept,
        __anon_buffer,
        __anon_path_rows,
        COLUMNS('^__anon_kept_'),
        __anon_hash
    FROM __anon_row_hashed('__anon_named'), __anon_begun, __anon_path_rows(__anon_hierarchy)
),
__anon_every AS NOT MATERIALIZED (
    FROM __anon_read
    UNION ALL BY NAME
    SELECT __anon_buffer FROM __anon_begun
),
-- A CTE is bound if it is named: without a * in the call the second one costs nothing. A * that is part
-- of a name costs time alone.
__anon_gathered AS NOT MATERIALIZED (
    SELECT
        system.main.list(system.main.struct_pack(kept := __anon_kept, number := __anon_row_number))
            FILTER (__anon_row_number IS NOT NULL) AS __anon_rows,
        system.main.any_value(__anon_buffer) AS __anon_buffer,
        system.main.any_value(__anon_path_rows) FILTER (__anon_row_number = 0) AS __anon_path_rows,
        NULL AS __anon_looks
    FROM __anon_every
),
__anon_looked_at AS NOT MATERIALIZED (
    SELECT
        __anon_rows, __anon_buffer, __anon_path_rows,
        system.main.struct_pack(*COLUMNS('^__anon_kept_')) AS __anon_looks
    FROM (
        SELECT
            system.main.list(system.main.struct_pack(
                kept := __anon_kept, number := __anon_row_number))
                FILTER (__anon_row_number IS NOT NULL) AS __anon_rows,
            system.main.any_value(__anon_buffer) AS __anon_buffer,
            system.main.any_value(__anon_path_rows) FILTER (__anon_row_number = 0)
                AS __anon_path_rows,
            __anon_looked(COLUMNS(lambda __anon_c: system.main.starts_with(__anon_c, '__anon_kept_')
                AND __anon_binding_is_role('rest', __anon_c[13:], __anon_call)), __anon_hash)
        FROM __anon_every)
)
FROM query_table(if(
    __anon_out = 'kept' AND system.main.contains(__anon_call::VARCHAR, '*'),
    '__anon_looked_at', '__anon_gathered'));

CREATE OR REPLACE MACRO __anon_row_numbers(__anon_rows_) AS system.main.list_transform(
    __anon_rows_, lambda __anon_r: system.main.struct_extract(__anon_r, 'number'));
CREATE OR REPLACE MACRO __anon_kept_of(__anon_rows_) AS system.main.list_transform(
    __anon_rows_, lambda __anon_r: system.main.struct_extract(__anon_r, 'kept'));

-- Return what a call says of its relation: the parameters that choose columns, with the caller's
-- database, schema, search path and transaction. The struct is a constant when the statement is bound.
-- bound: struct of these parameters; drops: columns to drop besides identifiers; whole: whether no
-- column is dropped. A parameter that is left out is as binding.UNSAID says.
CREATE OR REPLACE MACRO __anon_scope(__anon_tbl, __anon_bound) AS system.main.struct_pack(
    bound := __anon_bound,
    db := __anon_db(),
    transaction := system.main.txid_current(),
    relation := __anon_tbl,
    database := system.main.current_database(),
    schema := system.main.current_schema(),
    path := system.main.current_setting('search_path'));

-- The same for a building block, which drops no column.
CREATE OR REPLACE MACRO __anon_step(__anon_tbl, __anon_bound) AS
    __anon_scope(__anon_tbl, system.main.struct_pack(bound := __anon_bound, whole := true));

-- Return the columns that a release drops because of its entity: keep := ['*'] does not mean them.
CREATE OR REPLACE MACRO __anon_entity_of(__anon_entity) AS
    CASE WHEN __anon_entity IS NOT NULL THEN system.main.list_value(__anon_entity) END;
