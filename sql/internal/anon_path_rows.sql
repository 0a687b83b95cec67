-- Return the rows of a hierarchy as one list of structs; NULL without a hierarchy.
CREATE OR REPLACE MACRO __anon_path_rows(__anon_hierarchy) AS TABLE
WITH __anon_no_hierarchy AS (
    SELECT '' AS attribute, '' AS value, 0 AS level, '' AS label LIMIT 0
)
SELECT system.main.list(system.main.struct_pack(
    attribute := attribute::VARCHAR, value := value::VARCHAR, level := level::INTEGER,
    label := label::VARCHAR)) AS __anon_path_rows
FROM query_table(coalesce(__anon_hierarchy, '__anon_no_hierarchy'))
WHERE value IS NOT NULL AND label IS NOT NULL;
