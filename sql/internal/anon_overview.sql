-- Return one row: the type of each column of a relation (__anon_types), and what __anon_looked returns
-- for each (__anon_looks_). Raises an error if the table does not fit into memory.
CREATE OR REPLACE MACRO __anon_overview(__anon_function, __anon_tbl) AS TABLE
WITH
__anon_looks AS (
    SELECT __anon_looked(COLUMNS(lambda __anon_c: __anon_c <> '__anon_row'), __anon_row)
    FROM
        __anon_sampled(__anon_tbl),
        (SELECT __anon_fit AS __anon_zero FROM __anon_fits(__anon_function, __anon_tbl))
    WHERE __anon_zero
),
__anon_packed AS (
    SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_looks_ FROM __anon_looks
)
SELECT __anon_types, __anon_looks_ FROM __anon_types(__anon_tbl), __anon_packed;
