"""The error of queries: queries parsed, asked of a raw table and of its release, and compared."""
