-- Return the columns, types and comments of every table whose name occurs in `__anon_tbl`, as the
-- caller sees them, including temporary tables and an open transaction.
CREATE OR REPLACE MACRO __anon_seen(__anon_tbl) AS (
    SELECT system.main.list(system.main.struct_pack(
        database := database_name, schema := schema_name, relation := table_name,
        name := column_name, type := data_type, comment := comment, at := column_index))
    FROM system.main.duckdb_columns()
    WHERE NOT internal AND system.main.contains(
        system.main.lower(system.main.replace(__anon_tbl, '""', '"')),
        system.main.lower(table_name))
);
