-- A generalization hierarchy of a numeric column: ranges of fixed widths, each within the next.
--
-- tbl: name of the relation. column_name: the column of the hierarchy.
-- widths: widths of the ranges, in ascending order, each a multiple of the one before. Ranges start
--   at multiples of their width.
-- Returns: a row per distinct value and level: attribute, value, level, label, such as '20 to 24'
--   for whole numbers and '20 to below 25' for others; the last level is '*'. Decimal numbers are
--   compared as they print, so 4.35 is in '4.35 to below 4.36'. The ends have the decimals of the
--   width.
-- Errors: no such column, widths that are not multiples of each other.
-- Example: SELECT * FROM numeric_hierarchy('people', 'age', widths := [10, 20]);
CREATE OR REPLACE MACRO numeric_hierarchy(tbl, column_name, widths := [5, 10, 20]) AS TABLE
SELECT unnest(__anon_hierarchies_ranges(
    __anon_types, __anon_held, column_name, widths, system.main.typeof(widths)), recursive := true)
FROM __anon_types(tbl), __anon_hierarchy_values(tbl, column_name);
