-- Return the release of the cohorts of a series: a row per member, present or former. The core makes
-- classes and labels as for __anon_release; kept values come from the state, as texts.

-- Return the values of a kept column, a list with an entry per row. v: NULL of the column's type.
CREATE OR REPLACE MACRO __anon_held_of(v, __anon_name, __anon_found) AS system.main.cast_to_type(
    system.main.map_extract_value(system.main.struct_extract(__anon_found, 'kept'), __anon_name),
    system.main.list_value(v));

CREATE OR REPLACE MACRO __anon_series_release(
    __anon_function, __anon_tbl, __anon_k, __anon_call, __anon_format, __anon_options,
    __anon_hierarchy, __anon_entity, __anon_series, __anon_key
) AS TABLE
WITH
__anon_given AS (
    FROM
        __anon_series_people(
            __anon_function, __anon_tbl, __anon_k, __anon_call, __anon_options, __anon_hierarchy,
            __anon_entity),
        __anon_series_state(__anon_series)
),
__anon_probes AS MATERIALIZED (FROM __anon_nulls(__anon_tbl, 'quasi', __anon_call)),
__anon_kept_probes AS MATERIALIZED (FROM __anon_nulls(__anon_tbl, 'kept', __anon_call)),
__anon_order AS MATERIALIZED (FROM __anon_in_order(__anon_tbl, __anon_call)),
__anon_checked AS MATERIALIZED (
    SELECT __anon_series_result(
        __anon_buffer, __anon_people, __anon_path_rows, __anon_types, __anon_state,
        __anon_state_types,
        __anon_columns_hold_key(__anon_function, __anon_db(), __anon_key),
        __anon_kept_names, __anon_quasi_names, __anon_looks) AS __anon_found
    FROM
        __anon_given,
        (SELECT system.main.struct_keys(system.main.struct_pack(*COLUMNS(*))) AS __anon_quasi_names
         FROM __anon_probes),
        (SELECT system.main.struct_keys(system.main.struct_pack(*COLUMNS(*))) AS __anon_kept_names
         FROM __anon_kept_probes)
),
__anon_held AS (
    SELECT __anon_held_of(
        COLUMNS(__anon_kept_probes.*), system.main.alias(COLUMNS(__anon_kept_probes.*)), __anon_found)
    FROM __anon_checked, __anon_kept_probes
),
__anon_places AS (
    SELECT
        * EXCLUDE (__anon_found, __anon_blank),
        system.main.generate_subscripts(system.main.struct_extract(__anon_found, 'class'), 1)
            AS __anon_at,
        unnest(system.main.struct_extract(__anon_found, 'class')) AS __anon_class
    FROM __anon_labelled(__anon_format)
)
-- The first branch has no rows; it sets the order of the columns.
(FROM __anon_order LIMIT 0)
UNION ALL BY NAME
(SELECT * FROM (
    SELECT system.main.list_extract(COLUMNS(* EXCLUDE (__anon_at, __anon_class)), __anon_class)
    FROM __anon_places)
 POSITIONAL JOIN (
    SELECT unnest(COLUMNS(* EXCLUDE (__anon_blank))) FROM __anon_held));
