-- A generalization hierarchy of a date or timestamp column: day, month, quarter, year and longer
-- periods.
--
-- tbl: name of the relation. column_name: the column of the hierarchy.
-- levels: any of 'day', 'month', 'quarter', 'year', 'decade' and 'century', in this order.
--   Centuries begin with a decade: 2000 to 2099.
-- Returns: a row per distinct value and level: attribute, value, level, label, such as '2020-03',
--   '2020-Q1', '2020', '2020s' and '2000 to 2099'; the last level is '*'.
-- Errors: no such column, unknown levels or levels in another order, a text that is the day of
--   another text.
-- Example: SELECT * FROM date_hierarchy('births', 'born', ['month', 'year']);
CREATE OR REPLACE MACRO date_hierarchy(
    tbl, column_name, levels := ['month', 'quarter', 'year']
) AS TABLE
SELECT unnest(__anon_hierarchies_periods(__anon_types, __anon_held, column_name, levels), recursive := true)
FROM __anon_types(tbl), __anon_hierarchy_values(tbl, column_name);
