-- Return the rows of a hierarchy as one list of structs; NULL without a hierarchy. A column that the
-- relation lacks is NULL, so that the core can say so.
CREATE OR REPLACE MACRO __anon_path_rows(__anon_hierarchy) AS TABLE
WITH
__anon_no_hierarchy AS (
    SELECT '' AS attribute, '' AS value, 0 AS level, '' AS label LIMIT 0
),
__anon_by_name AS (
    FROM __anon_no_hierarchy
    UNION ALL BY NAME
    FROM query_table(coalesce(__anon_hierarchy, '__anon_no_hierarchy'))
)
SELECT system.main.list(system.main.struct_pack(
    attribute := attribute::VARCHAR, value := value::VARCHAR, level := TRY_CAST(level AS INTEGER),
    label := label::VARCHAR)) AS __anon_path_rows
FROM __anon_by_name;
