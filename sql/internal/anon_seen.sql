-- The columns, types and comments of every table whose name stands in `__anon_tbl`, as the
-- caller sees them: temporary tables and an open transaction included.
CREATE OR REPLACE MACRO __anon_seen(__anon_tbl) AS (
    SELECT list({
        'database': database_name, 'schema': schema_name, 'relation': table_name,
        'name': column_name, 'type': data_type, 'comment': comment, 'at': column_index})
    FROM duckdb_columns()
    WHERE NOT internal AND contains(lower(replace(__anon_tbl, '""', '"')), lower(table_name))
);
