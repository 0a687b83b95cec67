"""Make the table in which each release leaves its entry."""

import duckdb

from anon_sql.core.names import quote, split
from anon_sql.errors import AnonError
from anon_sql.hosts.duckdb.calls.ledger_entries import require_ledger

TABLE = "anon_ledger"


def ledger(con: duckdb.DuckDBPyConnection, table: str = TABLE) -> None:
    """Make a ledger if there is none: an empty table for the rows of ``ledger_entry``.

    table: name as written in SQL, qualified or quoted if necessary. Raises AnonError for a table
    with other columns.
    """
    name = ".".join(quote(part) for part in split(table))
    con.execute(f"CREATE TABLE IF NOT EXISTS {name} AS FROM __anon_ledger_columns()")
    made, wanted = (
        {column[0]: str(column[1]) for column in con.execute(f"DESCRIBE {relation}").fetchall()}
        for relation in (name, "FROM __anon_ledger_columns()")
    )
    require_ledger("ledger", made, wanted)
    if list(made) != list(wanted):  # entries are inserted by position
        raise AnonError("ledger", "ledger must have the columns of a ledger alone, in their order")
