-- What every release function calls: the release of a table, or of the cohorts of a series.

-- Return the name of the key that random choices depend on, NULL for none. DuckDB calls a function of
-- constants in a branch of CASE that it does not take, too; without a key the function has no name.
CREATE OR REPLACE MACRO __anon_choices_key(__anon_function, __anon_key) AS
    __anon_columns_hold_key(
        CASE WHEN __anon_key IS NOT NULL THEN __anon_function END, __anon_db(), __anon_key);

-- Return a release, of the cohorts of a series if one is named. A CTE is bound if it is named: without
-- a series the second one costs nothing.
CREATE OR REPLACE MACRO __anon_released(
    __anon_function, __anon_tbl, __anon_k, __anon_call, __anon_format, __anon_options,
    __anon_hierarchy, __anon_entity, __anon_series, __anon_key
) AS TABLE
WITH
__anon_alone AS NOT MATERIALIZED (
    FROM __anon_release(
        __anon_function, __anon_tbl, __anon_k, __anon_call, __anon_format,
        system.main.struct_insert(__anon_options, key := __anon_choices_key(
            __anon_function, __anon_key)),
        __anon_hierarchy := __anon_hierarchy)),
__anon_of_cohorts AS NOT MATERIALIZED (
    FROM __anon_series_release(
        __anon_function, __anon_tbl, __anon_k, __anon_call, __anon_format, __anon_options,
        __anon_hierarchy, __anon_entity, __anon_series, coalesce(__anon_key, 'env:ANON_KEY')))
FROM query_table(if(__anon_series IS NULL, '__anon_alone', '__anon_of_cohorts'));
