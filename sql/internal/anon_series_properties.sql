-- The properties of audit that are about a series: what the file shows of the cohorts of its state.

-- Return one row, __anon_shown: a struct of lists with an entry per class, its labels as
-- __anon_quasi_<name>, and __anon_tuples, the kept values of its rows as JSON of texts.
CREATE OR REPLACE MACRO __anon_series_shown(__anon_released, __anon_call) AS TABLE
WITH
__anon_worded AS (
    SELECT
        COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR __anon_binding_is_role('quasi', __anon_c, __anon_call)) AS '__anon_quasi_\0',
        COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR __anon_binding_is_role('kept', __anon_c, __anon_call))::VARCHAR AS '__anon_text_\0'
    FROM (SELECT *, 0::TINYINT AS __anon_zero FROM query_table(__anon_released))
),
__anon_grouped AS (
    SELECT
        COLUMNS('^__anon_quasi_'),
        system.main.list(to_json(system.main.struct_pack(*COLUMNS('^__anon_text_')))::VARCHAR)
            AS __anon_tuples
    FROM __anon_worded
    GROUP BY ALL
)
SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_shown
FROM (SELECT system.main.list(COLUMNS(*)) FROM __anon_grouped);

CREATE OR REPLACE MACRO __anon_series_call(
    __anon_raw, __anon_quasi, __anon_sensitive, __anon_identifiers, __anon_keep, __anon_exclude,
    __anon_entity
) AS __anon_scope(__anon_raw, system.main.struct_pack(
    quasi := __anon_quasi, sensitive := __anon_sensitive, identifiers := __anon_identifiers,
    keep := __anon_keep, exclude := __anon_exclude, entity := __anon_entity));

CREATE OR REPLACE MACRO __anon_series_properties(
    __anon_raw, __anon_released, __anon_k, __anon_series, __anon_key, __anon_quasi,
    __anon_sensitive, __anon_identifiers, __anon_keep, __anon_exclude, __anon_hierarchy, __anon_entity
) AS TABLE
SELECT system.main.unnest(
    __anon_series_audited(
        __anon_p.__anon_buffer, __anon_p.__anon_people, __anon_p.__anon_path_rows,
        __anon_p.__anon_types, __anon_s.__anon_state, __anon_s.__anon_state_types,
        __anon_columns_hold_key('audit', __anon_db(), __anon_key),
        system.main.struct_pack(
            k := __anon_k::BIGINT, types := __anon_t.__anon_types,
            time_zone := system.main.current_setting('TimeZone')),
        __anon_shown),
    recursive := true)
FROM
    __anon_series_people(
        'audit', __anon_raw, 1,
        __anon_series_call(
            __anon_raw, __anon_quasi, __anon_sensitive, __anon_identifiers, __anon_keep,
            __anon_exclude, __anon_entity),
        system.main.struct_pack(l := 1), __anon_hierarchy, __anon_entity) AS __anon_p,
    __anon_series_state(__anon_series) AS __anon_s,
    __anon_types(__anon_released) AS __anon_t,
    __anon_series_shown(
        __anon_released, __anon_series_call(
            __anon_raw, __anon_quasi, __anon_sensitive, __anon_identifiers, __anon_keep,
            __anon_exclude, __anon_entity));
