"""Measures of many releases in one table, ``measured``: a row per experiment, name, seed and k."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import chart
import duckdb

import anon_sql
from anon_sql.install import literal

MEASURES = "seconds", "rows", "classes", "dm", "cavg", "gcp", "suppressed"
TABLES = """
    CREATE TABLE measured (
        experiment VARCHAR, name VARCHAR, seed INTEGER, k INTEGER,
        seconds DOUBLE, rows DOUBLE, classes DOUBLE, dm DOUBLE, cavg DOUBLE, gcp DOUBLE,
        suppressed DOUBLE
    );
    CREATE MACRO spread(found, digits) AS
        CASE WHEN min(found) = max(found) THEN format('{:,.' || digits || 'f}', avg(found))
        ELSE format(
            '{:,.' || digits || 'f} ({:,.' || digits || 'f}–{:,.' || digits || 'f})',
            avg(found), min(found)::DOUBLE, max(found)::DOUBLE) END
"""


class Method:
    """A release method with options of its own, under the name that the page gives it."""

    def __init__(self, name: str, function: str, drawn: bool = False, **options: Any) -> None:
        self.name, self.function, self.drawn, self.options = name, function, drawn, options

    def call(self, table: str, k: int, seed: int, arguments: str) -> str:
        """The table function's call, as SQL."""
        own = "".join(f", {name} := {value!r}" for name, value in self.options.items())
        return f"{self.function}({literal(table)}, k := {k}, seed := {seed}, {arguments}{own})"


def connect() -> duckdb.DuckDBPyConnection:
    """A database in memory with the functions and an empty table ``measured``."""
    con = anon_sql.connect()
    con.execute(TABLES)
    return con


def columns(qids: Sequence[str], hierarchy: str | None = None) -> str:
    """Arguments that every call has, as SQL."""
    return f"qids := {list(qids)}" + (f", hierarchy := {literal(hierarchy)}" if hierarchy else "")


def measure(
    con: duckdb.DuckDBPyConnection,
    experiment: str,
    table: str,
    methods: Iterable[Method],
    ks: Sequence[int],
    seeds: Sequence[int],
    arguments: str,
) -> None:
    """Add what ``compare`` says; a method that draws nothing runs with the first seed only."""
    for method in methods:
        options = (
            f", options := {{{method.function!r}: {method.options}}}" if method.options else ""
        )
        for seed in seeds if method.drawn else seeds[:1]:
            con.execute(
                f"INSERT INTO measured SELECT ?, ?, ?, k, {', '.join(MEASURES)} FROM compare("
                f"{literal(table)}, methods := [{method.function!r}], ks := {list(ks)}, "
                f"seed := {seed}, {arguments}{options})",
                [experiment, method.name, seed],
            )


def by_k(
    con: duckdb.DuckDBPyConnection, experiment: str, measure: str, names: Sequence[str], digits: int
) -> duckdb.DuckDBPyRelation:
    """A row per k, a column per name: mean and range of a measure."""
    cells = (
        f"SELECT k, name, spread({measure}, {digits}) AS cell FROM measured "
        f"WHERE experiment = {literal(experiment)} GROUP BY ALL"
    )
    return pivoted(con, cells, "k", names)


def pivoted(
    con: duckdb.DuckDBPyConnection, cells: str, row: str, names: Sequence[str]
) -> duckdb.DuckDBPyRelation:
    """A row per value of a column, a column per name; cells is a query of row, name and cell."""
    among = ", ".join(map(literal, names))
    return con.sql(f"PIVOT ({cells}) ON name IN ({among}) USING first(cell) ORDER BY {row}")


def means(
    con: duckdb.DuckDBPyConnection, experiment: str, measure: str, of: str = "avg"
) -> dict[str, dict[int, float]]:
    """Name → k → mean of a measure over the seeds, or another aggregate of it."""
    found: dict[str, dict[int, float]] = {}
    for name, k, mean in con.execute(
        f"SELECT name, k, {of}({measure}) FROM measured WHERE experiment = ? "
        "GROUP BY ALL ORDER BY k, min(rowid)",
        [experiment],
    ).fetchall():
        found.setdefault(name, {})[k] = mean
    return found


def series(found: Mapping[str, Mapping[int, float]]) -> dict[str, list[chart.Point]]:
    """The same as the lines of a chart."""
    return {name: list(points.items()) for name, points in found.items()}
