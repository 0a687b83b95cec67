"""Texts of DuckDB's errors by which the package decides what to do.

``hosts/duckdb/errors.py`` has those whose meaning is explained to users.
"""


def is_older_storage(error: Exception) -> bool:
    """Return whether a database file is too old for table macros."""
    return "storage version" in str(error)


def is_open_end(error: Exception) -> bool:
    """Return whether a text, a name or a comment has begun and not ended."""
    return "unterminated" in str(error)


def is_interruption(error: BaseException) -> bool:
    """Return whether DuckDB noticed Ctrl-C before Python did."""
    return isinstance(error, RuntimeError) and str(error) == "Query interrupted"
