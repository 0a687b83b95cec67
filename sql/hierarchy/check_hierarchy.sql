-- All faults of a hierarchy, for the columns of a table that it names. The result shows values of
-- the table and is not a release.
--
-- tbl: name of the relation. hierarchy: name of a relation with the columns attribute, value, level
--   and label, as read_hierarchies returns them.
-- Returns: a row per fault: attribute, fault, name (the value or label) and found (the conflicting
--   entry). fault is 'not covered' (a value of the table that the hierarchy lacks), 'listed twice'
--   (a value), 'two parents' (a label), 'also a leaf' (a label that is a value of another branch),
--   'above itself' (a label) or '* below a label'. No row: the hierarchy has no fault.
-- Errors: a column in the hierarchy that is neither number, date, time nor text.
-- Example: SELECT count(*) AS faults FROM check_hierarchy('people', 'people_hierarchy');
CREATE OR REPLACE MACRO check_hierarchy(tbl, hierarchy) AS TABLE
SELECT unnest(__anon_hierarchies_faults(
    __anon_types, __anon_held, __anon_path_rows, system.main.current_setting('TimeZone')),
    recursive := true)
FROM
    __anon_types(tbl), __anon_held_values(tbl, hierarchy), __anon_path_rows(hierarchy);
