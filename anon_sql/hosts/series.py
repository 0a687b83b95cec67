"""Release a table in a series: the next state, the release and its rows in one transaction."""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa

from anon_sql.core.names import literal, quote, split
from anon_sql.core.parameters import takes
from anon_sql.errors import AnonError, did_you_mean
from anon_sql.hosts.duckdb.errors import as_raised
from anon_sql.hosts.duckdb.macros import in_transaction, transaction
from anon_sql.hosts.kept import unique_in_series, warn
from anon_sql.hosts.parts.workspace import Target
from anon_sql.series.next import NAME
from anon_sql.series.release import require_cohorts

_OF_STATE = ("l", "leaf", "waiting", "leavers")  # parameters that only the state takes
_BEFORE = "__anon_series_before"
_ROWS = "__anon_series_rows"
_COLUMNS = "cohort BIGINT, person VARCHAR, tuple VARCHAR"


@dataclass(frozen=True)
class InSeries:
    """A release of a series: its table, the state, the release function and their parameters."""

    tbl: str
    series: str
    method: str
    k: int
    parameters: Mapping[str, Any]

    def check(self) -> None:
        """Raise AnonError for a function without series, and for unknown parameters."""
        parameters = {**takes(self.method), **takes(NAME)}
        require_cohorts(self.method)
        for name in self.parameters:
            if name not in parameters or name in ("tbl", "state", "series", "k"):
                raise AnonError(
                    self.method, "parameters must be those of the method", f"'{name}'",
                    did_you_mean(name, list(parameters)),
                )  # fmt: skip

    @property
    def _next(self) -> dict[str, Any]:
        parameters = {
            name: value for name, value in self._set_parameters.items() if name in takes(NAME)
        }
        if float(parameters.get("l", 0.5)).is_integer():  # elsewhere l may be a fraction
            parameters["l"] = int(parameters["l"])
        return parameters

    @property
    def _release(self) -> dict[str, Any]:
        return {
            name: value for name, value in self._set_parameters.items() if name not in _OF_STATE
        }

    @property
    def _set_parameters(self) -> dict[str, Any]:
        return {name: value for name, value in self.parameters.items() if value is not None}

    def step(self, con: duckdb.DuckDBPyConnection) -> None:
        """Write the next state in place of the last one; make it where there is none."""
        parts = split(self.series)
        name = ".".join(map(quote, parts))
        table = "TEMP TABLE" if parts[0] == "temp" else "TABLE"
        con.execute(f"CREATE {table} IF NOT EXISTS {name} ({_COLUMNS})")
        call = _call(NAME, f"{literal(self.tbl)}, {literal(self.series)}", self._next)
        con.execute(f"CREATE OR REPLACE {table} {name} AS FROM {call}", self._next)

    def state(self, con: duckdb.DuckDBPyConnection) -> pa.Table:
        """Return the rows of the last state, none where there is none."""
        try:
            return con.sql(f"FROM query_table({literal(self.series)})").to_arrow_table()
        except duckdb.CatalogException:
            return pa.table({})

    def put_back(self, con: duckdb.DuckDBPyConnection, before: pa.Table) -> None:
        """Write a state that was the last one, or remove the one that had none before it."""
        name = ".".join(map(quote, split(self.series)))
        if not before.column_names:
            con.execute(f"DROP TABLE IF EXISTS {name}")
            return
        con.register(_BEFORE, before)
        con.execute(f"CREATE OR REPLACE TABLE {name} AS FROM {_BEFORE}")
        con.unregister(_BEFORE)

    @property
    def select(self) -> tuple[str, dict[str, Any]]:
        """Return the query of the release of the state, and its parameters."""
        before = f"{literal(self.tbl)}, k := $k, series := {literal(self.series)}"
        call = _call(self.method, before, self._release)
        return f"SELECT * FROM {call}", {**self._release, "k": self.k}


def _call(function: str, before: str, parameters: Mapping[str, Any]) -> str:
    """Return a call of a function, whose parameters are checked names."""
    return f"{function}({before}{''.join(f', {name} := ${name}' for name in parameters)})"


def release_in_series(con: duckdb.DuckDBPyConnection, call: InSeries, target: Target) -> int:
    """Write the next state and its release; return the number of rows. An error writes neither.

    The state is written before a file gets its name, so that no file is there without its state: in
    a transaction of its own, or in the caller's, which the caller commits. Warns of rows that are
    unique on the kept columns.
    """
    call.check()
    owns_transaction = not in_transaction(con)
    before, (sql, parameters) = None, call.select
    try:
        with as_raised(), target.opened() as write:
            earlier_state = call.state(con) if owns_transaction else None
            with transaction(con) if owns_transaction else nullcontext():
                call.step(con)
                con.execute(f"CREATE OR REPLACE TEMP TABLE {_ROWS} AS {sql}", parameters)
                rows = write(f"FROM temp.{_ROWS}", {})
                warning = unique_in_series(
                    con, call.tbl, f"FROM temp.{_ROWS}", {**call.parameters, "k": call.k}
                )
                con.execute(f"DROP TABLE temp.{_ROWS}")
            before = earlier_state
    except BaseException:
        if before is not None:
            call.put_back(con, before)
        raise
    warn(call.method, warning)
    return rows
