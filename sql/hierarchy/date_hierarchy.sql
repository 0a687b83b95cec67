-- A generalization hierarchy of a date or timestamp: the days, months, quarters, years it lies in.
--
-- tbl: name of the relation. column_name: the column the hierarchy is for.
-- levels: some of 'day', 'month', 'quarter', 'year', 'decade' and 'century', in this order.
-- Returns: a row per distinct value and level: attribute, value, level, label, such as '2020-03',
--   '2020-Q1', '2020', '2020s' and 'century 21'; the last level is '*'.
-- Errors: no such column, unknown levels or in another order.
-- Example: SELECT * FROM date_hierarchy('births', 'born', ['month', 'year']);
CREATE OR REPLACE MACRO date_hierarchy(
    tbl, column_name, levels := ['month', 'quarter', 'year']
) AS TABLE
WITH
__anon_checked AS (SELECT __anon_date_levels('date_hierarchy', levels) AS __anon_fit),
__anon_labelled AS (
    SELECT __anon_attribute, __anon_printed,
        list_transform(levels, lambda __anon_l: __anon_period(__anon_printed, __anon_l))
            AS __anon_labels
    FROM __anon_hierarchy_values('date_hierarchy', tbl, column_name), __anon_checked
    WHERE __anon_fit
)
FROM __anon_hierarchy_rows('__anon_labelled');
