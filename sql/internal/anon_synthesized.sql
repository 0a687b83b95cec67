-- Return the rows of a relation (__anon_made = 0) and synthetic rows that consist of their values
-- (__anon_made = 1). The relation is read once, also if the result is read repeatedly.
CREATE OR REPLACE MACRO __anon_synthesized(
    __anon_function, __anon_tbl, __anon_k, __anon_call, __anon_options, __anon_releases
) AS TABLE
WITH
__anon_source AS MATERIALIZED (FROM query_table(__anon_tbl)),
__anon_begun AS MATERIALIZED (
    SELECT __anon_rows_begin(
        __anon_function, __anon_types, __anon_k_given, __anon_call, __anon_seen(__anon_tbl),
        __anon_options, __anon_settings(), __anon_releases,
        system.main.current_connection_id(), system.main.current_query_id(),
        system.main.list_value(__anon_mark_is_ours())::TINYINT[]) AS __anon_buffer
    FROM __anon_schema(__anon_tbl, __anon_k)
),
__anon_real AS MATERIALIZED (
    SELECT
        system.main.list(COLUMNS(lambda __anon_c: __anon_binding_is_role('released', __anon_c, __anon_call))),
        system.main.list(__anon_mark(COLUMNS(lambda __anon_c:
            __anon_binding_is_role('released', __anon_c, __anon_call)))) AS '__anon_code_\0'
    FROM (SELECT *, 0::TINYINT AS __anon_zero FROM __anon_source)
),
__anon_drawn AS MATERIALIZED (
    SELECT __anon_release_synthetic_positions(__anon_buffer, __anon_packed) AS __anon_positions
    FROM __anon_begun, (SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_packed
                        FROM __anon_real)
),
__anon_values AS (
    SELECT COLUMNS(lambda __anon_c: __anon_binding_is_role('released', __anon_c, __anon_call)) FROM __anon_real
)
(SELECT *, 0 AS __anon_made FROM __anon_source)
UNION ALL BY NAME
(SELECT
    unnest(system.main.list_select(
        COLUMNS(__anon_values.*),
        system.main.map_extract_value(__anon_positions, system.main.alias(COLUMNS(__anon_values.*))))),
    1 AS __anon_made
 FROM __anon_values, __anon_drawn);
