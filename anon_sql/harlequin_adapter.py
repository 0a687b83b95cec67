"""Harlequin's adapter for DuckDB with the functions on it: ``harlequin -a anon_sql FILE``."""

from harlequin import HarlequinCompletion, HarlequinConnection
from harlequin_duckdb import DuckDbAdapter
from harlequin_duckdb.adapter import DuckDbConnection

from anon_sql import headers, interrupt
from anon_sql.install import register


class AnonSqlConnection(DuckDbConnection):
    """A connection of Harlequin's whose completions and whose cancelling know the functions."""

    def cancel(self) -> None:
        interrupt.ask()
        super().cancel()

    def get_completions(self) -> list[HarlequinCompletion]:
        """Harlequin's own leave out temporary macros, as ours are on a file."""
        ours = {entry.name: entry for entry in headers.entries()}
        others = [found for found in super().get_completions() if found.label not in ours]
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
