"""File formats: how the files of each are read into a table, and written from a query."""
