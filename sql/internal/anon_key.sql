-- A value of any type as bytes that are equal where values are and that sort as values do. NULL is
-- the empty key, before all others.
--
-- A column of the type STRUCT(__anon_none INTEGER), which no table has, stands in where no column is
-- picked; its keys are NULL.
CREATE OR REPLACE MACRO __anon_key(x) AS CASE
    WHEN system.main.typeof(x) = 'STRUCT(__anon_none INTEGER)' THEN NULL
    WHEN x IS NULL THEN ''::BLOB
    ELSE system.main.create_sort_key(system.main.list_value(x), 'ASC NULLS FIRST')
END;
