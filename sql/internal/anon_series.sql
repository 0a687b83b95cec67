-- The state of a series, and the rows of a table as people with their tuples.

CREATE OR REPLACE MACRO __anon_series_columns() AS TABLE
SELECT NULL::BIGINT AS cohort, NULL::VARCHAR AS person, NULL::VARCHAR AS tuple WHERE false;

-- Return one row: __anon_state, the rows of a state as a list of structs, and __anon_state_types. A
-- relation that is no state has NULL for what it lacks. NULL stands for a state without rows.
CREATE OR REPLACE MACRO __anon_series_state(__anon_name) AS TABLE
WITH __anon_no_state AS NOT MATERIALIZED (FROM __anon_series_columns())
SELECT
    system.main.list(system.main.struct_pack(
        cohort := cohort::VARCHAR, person := person::VARCHAR, tuple := tuple::VARCHAR))
        AS __anon_state,
    system.main.any_value(__anon_types) AS __anon_state_types
FROM __anon_types(coalesce(__anon_name, '__anon_no_state'))
LEFT JOIN (
    FROM __anon_series_columns()
    UNION ALL BY NAME
    FROM query_table(coalesce(__anon_name, '__anon_no_state'))) ON true;

-- Return one row, as __anon_table does, with __anon_people in place of __anon_rows: of each row its
-- number in the core, the text of its entity, and its sensitive and kept values as JSON of texts; and
-- with __anon_types.
CREATE OR REPLACE MACRO __anon_series_people(
    __anon_function, __anon_tbl, __anon_k, __anon_call, __anon_options, __anon_hierarchy,
    __anon_entity
) AS TABLE
WITH
__anon_worded AS (
    SELECT
        *,
        COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR coalesce(__anon_fold(__anon_c) = __anon_fold(__anon_entity::VARCHAR), false))::VARCHAR
            AS '__anon_whose_\0',
        COLUMNS(lambda __anon_c: __anon_binding_is_role('kept', __anon_c, __anon_call))::VARCHAR
            AS '__anon_text_\0'
    FROM (SELECT *, NULL::VARCHAR AS __anon_zero FROM query_table(__anon_tbl))
),
__anon_told AS (
    SELECT
        COLUMNS(lambda __anon_c: NOT system.main.starts_with(__anon_c, '__anon_')),
        system.main.list_any_value(system.main.list_value(*COLUMNS('^__anon_whose_')))
            AS __anon_kept___anon_person,
        to_json(system.main.struct_pack(*COLUMNS('^__anon_text_')))::VARCHAR
            AS __anon_kept___anon_tuple
    FROM __anon_worded
)
SELECT
    __anon_buffer,
    system.main.list_transform(__anon_rows, lambda __anon_r: system.main.struct_pack(
        number := system.main.struct_extract(__anon_r, 'number'),
        person := system.main.struct_extract(
            system.main.struct_extract(__anon_r, 'kept'), '__anon_kept___anon_person'),
        tuple := system.main.struct_extract(
            system.main.struct_extract(__anon_r, 'kept'), '__anon_kept___anon_tuple')))
        AS __anon_people,
    __anon_path_rows, __anon_types, __anon_looks
FROM __anon_types(__anon_tbl), __anon_table(
    __anon_function, __anon_tbl, __anon_k, __anon_call, __anon_options, __anon_hierarchy, 'kept',
    __anon_from := '__anon_told');

-- Return one row, __anon_promise: what the last release of a series promises, NULL without one.
CREATE OR REPLACE MACRO __anon_promise_of(__anon_series) AS TABLE
WITH
__anon_none AS NOT MATERIALIZED (
    SELECT
        NULL::BIGINT AS release, NULL::BIGINT AS l, NULL::BIGINT AS former,
        NULL::BIGINT AS waiting, NULL::DOUBLE AS largest_waiting_share
    WHERE false
),
__anon_made AS NOT MATERIALIZED (
    SELECT unnest(__anon_series_status(__anon_state, __anon_state_types), max_depth := 2)
    FROM __anon_series_state(__anon_series)
)
SELECT system.main.max_by(
    system.main.struct_pack(
        release := release, l := l, former := former, waiting := waiting,
        largest_waiting_share := largest_waiting_share), release) AS __anon_promise
FROM query_table(if(__anon_series IS NULL, '__anon_none', '__anon_made'));
