-- A value of any type as bytes that are equal where values are and that sort as values do. NULL is
-- the empty key, before all others. DuckDB does not promise the bytes, which are compared with each
-- other alone; no other file of SQL makes them.
--
-- sort_key in core/duckdb_internals/hashing.py says the same for Arrow tables.
CREATE OR REPLACE MACRO __anon_sort_key(x) AS CASE
    WHEN x IS NULL THEN ''::BLOB
    ELSE system.main.create_sort_key(system.main.list_value(x), 'ASC NULLS FIRST')
END;

-- Return whether __anon_sort_key is the one above and was not replaced.
CREATE OR REPLACE MACRO __anon_sort_key_is_ours() AS
    __anon_sort_key(NULL) = ''::BLOB
    AND __anon_sort_key('a') = system.main.create_sort_key(
        system.main.list_value('a'), 'ASC NULLS FIRST');

-- The same, but a column of the type STRUCT(__anon_none INTEGER), which no table has, stands in where
-- no column is picked; its keys are NULL.
CREATE OR REPLACE MACRO __anon_key(x) AS CASE
    WHEN system.main.typeof(x) = 'STRUCT(__anon_none INTEGER)' THEN NULL
    ELSE __anon_sort_key(x)
END;
