-- A column's value with its name, so that columns can stand below one another. (UNPIVOT would do
-- so too, but DuckDB 1.5 cannot store a macro that has one.) The name is alias(…) of the column,
-- which straight in a field would be the field's.
CREATE OR REPLACE MACRO __anon_named(__anon_name, x) AS {
    'name': concat(__anon_name, ''), 'value': x};
