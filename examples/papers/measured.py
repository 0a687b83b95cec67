"""Measures of many releases in one table, ``measured``: a row per experiment, name, seed and k."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import chart
import duckdb

import anon_sql
from anon_sql.hosts.duckdb.install import literal

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
    """A release method with options, and its name on the page."""

    def __init__(self, name: str, function: str, drawn: bool = False, **options: Any) -> None:
        self.name, self.function, self.drawn, self.options = name, function, drawn, options

    def call(self, table: str, k: int, seed: int, arguments: str) -> str:
        """Return the call of the table function as SQL."""
        own = "".join(f", {name} := {value!r}" for name, value in self.options.items())
        return f"{self.function}({literal(table)}, k := {k}, seed := {seed}, {arguments}{own})"


def connect() -> duckdb.DuckDBPyConnection:
    """Open a database in memory with the functions and an empty table ``measured``."""
    con = anon_sql.connect()
    con.execute(TABLES)
    return con


def columns(qids: Sequence[str], hierarchy: str | None = None) -> str:
    """Return the arguments common to all calls as SQL."""
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
    """Add the result of ``compare``; a method without random choices runs with one seed only."""
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
    """Return mean and range of a measure: a row per k, a column per name."""
    cells = (
        f"SELECT k, name, spread({measure}, {digits}) AS cell FROM measured "
        f"WHERE experiment = {literal(experiment)} GROUP BY ALL"
    )
    return pivoted(con, cells, "k", names)


def pivoted(
    con: duckdb.DuckDBPyConnection, cells: str, row: str, names: Sequence[str]
) -> duckdb.DuckDBPyRelation:
    """Pivot ``cells``, a query of row, name and cell: a row per value, a column per name."""
    among = ", ".join(map(literal, names))
    return con.sql(f"PIVOT ({cells}) ON name IN ({among}) USING first(cell) ORDER BY {row}")


def means(
    con: duckdb.DuckDBPyConnection, experiment: str, measure: str, of: str = "avg"
) -> dict[str, dict[int, float]]:
    """Return name → k → mean (or another aggregate) of a measure over the seeds."""
    found: dict[str, dict[int, float]] = {}
    for name, k, mean in con.execute(
        f"SELECT name, k, {of}({measure}) FROM measured WHERE experiment = ? "
        "GROUP BY ALL ORDER BY k, min(rowid)",
        [experiment],
    ).fetchall():
        found.setdefault(name, {})[k] = mean
    return found


def series(found: Mapping[str, Mapping[int, float]]) -> dict[str, list[chart.Point]]:
    """Return the means as the lines of a chart."""
    return {name: list(points.items()) for name, points in found.items()}
