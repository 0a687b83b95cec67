"""Harlequin's adapter for DuckDB with the functions registered: ``harlequin -a anon_sql FILE``."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from harlequin import HarlequinCompletion, HarlequinConnection
from harlequin.exception import HarlequinQueryError
from harlequin_duckdb import DuckDbAdapter
from harlequin_duckdb.adapter import DuckDbConnection, DuckDbCursor

from anon_sql.hosts.duckdb import sql_files
from anon_sql.hosts.duckdb.errors import own_error_text
from anon_sql.hosts.duckdb.interrupting import interrupt
from anon_sql.hosts.duckdb.register import register


@contextmanager
def plain_errors() -> Iterator[None]:
    """Show an error of the package as its sentence, without what DuckDB puts around it."""
    try:
        yield
    except HarlequinQueryError as error:
        text = own_error_text(error.msg)
        if text is None:
            raise
        raise HarlequinQueryError(text, error.title) from error


class AnonSqlCursor(DuckDbCursor):
    """The rows of a query, with plain errors."""

    def fetchall(self) -> Any:
        with plain_errors():
            return super().fetchall()

    def fetchone(self) -> Any:
        with plain_errors():
            return super().fetchone()


class AnonSqlConnection(DuckDbConnection):
    """A connection that completes function names, cancels releases and shows plain errors."""

    def execute(self, query: str) -> AnonSqlCursor | None:
        with plain_errors():
            cursor = super().execute(query)
        return None if cursor is None else AnonSqlCursor(cursor.conn, cursor.relation)

    def cancel(self) -> None:
        interrupt(self.conn)

    def get_completions(self) -> list[HarlequinCompletion]:
        """Return Harlequin's completions, which lack temporary macros, and the functions."""
        ours = {entry.name: entry for entry in sql_files.entries()}
        others = [
            completion for completion in super().get_completions() if completion.label not in ours
        ]
        return [
            *others,
            *(
                HarlequinCompletion(name, "fn->T" if entry.is_table else "fn", name, 500, None)
                for name, entry in ours.items()
            ),
        ]


class AnonSqlAdapter(DuckDbAdapter):
    """Opens what Harlequin's own adapter opens, and registers the functions."""

    ADAPTER_DETAILS = "DuckDB with the functions of anon_sql."

    def connect(self) -> HarlequinConnection:
        opened = super().connect()
        return AnonSqlConnection(register(opened.conn), opened.init_message)
