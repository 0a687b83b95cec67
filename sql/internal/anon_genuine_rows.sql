-- Return the rows of a release without counterfeits: those whose sensitive values a raw row has.
CREATE OR REPLACE MACRO __anon_genuine_rows(__anon_raw, __anon_released, __anon_call) AS TABLE
WITH
__anon_raw_values AS NOT MATERIALIZED (
    SELECT COLUMNS(lambda __anon_c: __anon_is('sensitive', __anon_c, __anon_call))
    FROM query_table(__anon_raw)
),
__anon_shown AS NOT MATERIALIZED (
    (SELECT * FROM query_table(__anon_released))
    UNION ALL BY NAME (FROM __anon_raw_values LIMIT 0)
),
__anon_held AS NOT MATERIALIZED (
    (FROM __anon_raw_values)
    UNION ALL BY NAME
    (SELECT COLUMNS(lambda __anon_c: __anon_is('sensitive', __anon_c, __anon_call))
     FROM query_table(__anon_released) LIMIT 0)
),
__anon_held_keys AS (
    SELECT DISTINCT system.main.list_value(*COLUMNS(*)) AS __anon_values
    FROM (SELECT __anon_sort_key(COLUMNS(*)) FROM __anon_held)
),
__anon_keyed_rows AS (
    SELECT *, system.main.list_value(*COLUMNS('^__anon_key_')) AS __anon_values
    FROM (
        SELECT *, __anon_sort_key(COLUMNS(lambda __anon_c:
            __anon_is('sensitive', __anon_c, __anon_call))) AS '__anon_key_\0'
        FROM __anon_shown)
)
SELECT COLUMNS(lambda __anon_c: __anon_c <> '__anon_values'
    AND NOT system.main.starts_with(__anon_c, '__anon_key_'))
FROM __anon_keyed_rows SEMI JOIN __anon_held_keys USING (__anon_values);
