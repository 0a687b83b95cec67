-- Return one row: the quasi-identifiers and the id of a relation as lists of equal order. id: name of a
-- column, or NULL.
CREATE OR REPLACE MACRO __anon_value_lists(__anon_tbl, __anon_call, __anon_id) AS TABLE
WITH __anon_columns AS (
    SELECT
        system.main.list(COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR __anon_binding_is_role('quasi', __anon_c, __anon_call))),
        system.main.list(COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR __anon_fold(__anon_c) = __anon_fold(__anon_id::VARCHAR))::VARCHAR) AS '__anon_id_\0'
    FROM (SELECT *, 0::TINYINT AS __anon_zero FROM query_table(__anon_tbl))
)
SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_listed FROM __anon_columns;
