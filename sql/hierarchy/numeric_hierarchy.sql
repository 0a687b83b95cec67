-- A generalization hierarchy of a numeric column: ranges of fixed widths, each within the next.
--
-- tbl: name of the relation. column_name: the column the hierarchy is for.
-- widths: of the ranges, ascending, each a multiple of the one before. Ranges begin at multiples
--   of their width.
-- Returns: a row per distinct value and level: attribute, value, level, label, such as
--   '20 to 24' for whole numbers and '20 to below 25' for others; the last level is '*'.
-- Errors: no such column, widths that are not multiples of each other.
-- Example: SELECT * FROM numeric_hierarchy('people', 'age', widths := [10, 20]);
CREATE OR REPLACE MACRO numeric_hierarchy(tbl, column_name, widths := [5, 10, 20]) AS TABLE
WITH
__anon_checked AS (SELECT __anon_widths('numeric_hierarchy', widths::DOUBLE[]) AS __anon_fit),
__anon_labelled AS (
    SELECT __anon_attribute, __anon_printed,
        list_transform(widths, lambda __anon_w: __anon_range_name(__anon_value, __anon_w))
            AS __anon_labels
    FROM __anon_hierarchy_values('numeric_hierarchy', tbl, column_name), __anon_checked
    WHERE __anon_fit
)
FROM __anon_hierarchy_rows('__anon_labelled');
