-- Everything that is wrong with a hierarchy, for the columns of a table that it names. Nothing is
-- released: the result names values of the table.
--
-- tbl: name of the relation. hierarchy: name of a relation with the columns attribute, value,
--   level and label, as read_hierarchies gives them.
-- Returns: a row per fault: attribute, fault, name (the value or label) and found (what stands
--   there). fault is 'not covered' (a value of the table that the hierarchy lacks), 'listed
--   twice' (a value), 'two parents' (a label), 'also a leaf' (a label that is a value of
--   another branch), 'above itself' (a label) or '* below a label'. No row: all is well.
-- Errors: a column in the hierarchy that is neither number, date, time nor text.
-- Example: SELECT count(*) AS faults FROM check_hierarchy('people', 'people_hierarchy');
CREATE OR REPLACE MACRO check_hierarchy(tbl, hierarchy) AS TABLE
WITH
__anon_grown AS MATERIALIZED (FROM __anon_trees(tbl, __anon_step(tbl, NULL, NULL), hierarchy, 'all')),
__anon_covered AS MATERIALIZED (
    SELECT list(DISTINCT __anon_fold(attribute)) AS __anon_attributes FROM query_table(hierarchy)
),
__anon_source AS (
    SELECT *, 0 AS __anon_zero FROM query_table(tbl)
),
__anon_distinct AS (
    SELECT __anon_held_values(
        COLUMNS(__anon_source.*), alias(COLUMNS(__anon_source.*)), __anon_attributes)
    FROM __anon_source, __anon_covered
),
__anon_faulty AS (
    SELECT __anon_hierarchy_faults(
        __anon_types, __anon_trees, struct_pack(*COLUMNS(__anon_distinct.*))) AS __anon_found
    FROM __anon_distinct, __anon_grown, __anon_schema(tbl, 0)
)
SELECT unnest(__anon_fault)
FROM (SELECT unnest(__anon_found) AS __anon_fault FROM __anon_faulty);
