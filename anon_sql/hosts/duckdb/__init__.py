"""The DuckDB host: SQL macros, Python functions called by them, and the catalog."""
