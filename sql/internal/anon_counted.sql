-- Distinct values and NULLs of a column.
CREATE OR REPLACE MACRO __anon_counted(x) AS {
    'distinct_values': count(DISTINCT x), 'nulls': count(*) - count(x)};
