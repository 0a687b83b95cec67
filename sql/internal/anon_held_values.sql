-- The distinct values of the columns that a hierarchy names, as one struct of lists; nothing is
-- collected of the others.
CREATE OR REPLACE MACRO __anon_held(x, __anon_name, __anon_attributes) AS
    system.main.list(DISTINCT x) FILTER (
        x IS NOT NULL AND system.main.list_contains(__anon_attributes, __anon_fold(__anon_name)));
CREATE OR REPLACE MACRO __anon_held_values(__anon_tbl, __anon_hierarchy) AS TABLE
WITH
__anon_by_name AS (
    (SELECT '' AS attribute LIMIT 0)
    UNION ALL BY NAME
    FROM query_table(__anon_hierarchy)
),
__anon_covered AS MATERIALIZED (
    SELECT system.main.list(DISTINCT __anon_fold(attribute::VARCHAR)) AS __anon_attributes
    FROM __anon_by_name
),
__anon_source AS (SELECT *, 0::TINYINT AS __anon_zero FROM query_table(__anon_tbl)),
__anon_listed AS (
    SELECT __anon_held(
        COLUMNS(__anon_source.*), alias(COLUMNS(__anon_source.*)), __anon_attributes)
    FROM __anon_source, __anon_covered
)
SELECT system.main.struct_pack(*COLUMNS(*)) AS __anon_held FROM __anon_listed;
