-- Group a relation by quasi-identifiers and target, and return one struct of lists, including
-- __anon_count, the number of rows of each group.
CREATE OR REPLACE MACRO __anon_learned(__anon_tbl, __anon_target, __anon_call) AS TABLE
WITH
__anon_grouped AS (
    SELECT
        COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR __anon_binding_is_role('quasi', __anon_c, __anon_call)),
        COLUMNS(lambda __anon_c: __anon_c = '__anon_zero'
            OR __anon_fold(__anon_c) = __anon_fold(__anon_target))::VARCHAR AS '__anon_target_\0',
        system.main.count(*) AS __anon_count
    FROM (SELECT *, 0 AS __anon_zero FROM query_table(__anon_tbl))
    GROUP BY ALL
),
__anon_listed AS (SELECT system.main.list(COLUMNS(*)) FROM __anon_grouped)
SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_lists FROM __anon_listed;
