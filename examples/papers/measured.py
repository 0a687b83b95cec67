"""Measures of many releases in one table, ``measured``: a row per experiment, name, seed and k."""

import json
import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import chart
import duckdb

import anon_sql
from anon_sql.core.names import quote
from anon_sql.hosts.duckdb.install import literal

MEASURES = "seconds", "rows", "classes", "dm", "cavg", "gcp", "suppressed"
TABLES = """
    CREATE TABLE measured (
        experiment VARCHAR, name VARCHAR, seed INTEGER, k INTEGER,
        seconds DOUBLE, rows DOUBLE, classes DOUBLE, dm DOUBLE, cavg DOUBLE, gcp DOUBLE,
        suppressed DOUBLE, below DOUBLE
    );
    CREATE TABLE finished (asked JSON, seconds DOUBLE);
    CREATE MACRO spread(found, digits) AS
        CASE WHEN min(found) = max(found) THEN format('{:,.' || digits || 'f}', avg(found))
        ELSE format(
            '{:,.' || digits || 'f} ({:,.' || digits || 'f}–{:,.' || digits || 'f})',
            avg(found), min(found)::DOUBLE, max(found)::DOUBLE) END
"""
Means = Mapping[str, Mapping[int, float]]  # name → k → figure


class Columns(NamedTuple):
    """The quasi-identifiers of a table and its hierarchies; as text, arguments of a call."""

    qids: Sequence[str]
    hierarchy: str | None = None

    def __str__(self) -> str:
        named = f", hierarchy := {literal(self.hierarchy)}" if self.hierarchy else ""
        return f"qids := {list(self.qids)}{named}"


class Method:
    """A release method with options, and its name on the page."""

    def __init__(self, name: str, function: str, drawn: bool = False, **options: Any) -> None:
        self.name, self.function, self.drawn, self.options = name, function, drawn, options

    def call(self, table: str, k: int, seed: int, arguments: object) -> str:
        """Return the call of the table function as SQL."""
        own = "".join(f", {name} := {value!r}" for name, value in self.options.items())
        return f"{self.function}({literal(table)}, k := {k}, seed := {seed}, {arguments}{own})"

    def release(self, con, table: str, k: int, seed: int, columns: Columns, more: str = "") -> None:
        """Create the table ``released``; ``more`` are further arguments, as SQL."""
        call = self.call(table, k, seed, f"{columns}{more}")
        con.execute(f"CREATE OR REPLACE TABLE released AS FROM {call}")

    def measure(self, con, table: str, ks: Sequence[int], seed: int, columns: Columns) -> list:
        """Return k, MEASURES and the share of classes below k for each k."""
        own = f", options := {{{self.function!r}: {self.options}}}" if self.options else ""
        return con.execute(
            f"SELECT k, {', '.join(MEASURES)}, (smallest_class < k)::INTEGER FROM compare({literal(table)}, "
            f"methods := [{self.function!r}], ks := {list(ks)}, seed := {seed}, {columns}{own})"
        ).fetchall()


class Imitated(Method):
    """A method that is not one of the product: ``partition`` creates ``classed``, with class_id.

    Its classes are labelled by ``generalize``, as they are, even those of fewer than k rows.
    """

    def __init__(self, name: str, partition: Callable[..., None], drawn: bool = False) -> None:
        super().__init__(name, "generalize", drawn)
        self.partition = partition

    def release(self, con, table: str, k: int, seed: int, columns: Columns, more: str = "") -> None:
        self.partition(con, table, k, seed, columns)
        con.execute(
            "CREATE OR REPLACE TABLE released AS FROM generalize('classed', k := 1, "
            f"keep := ['*'], {columns})"
        )

    def measure(self, con, table: str, ks: Sequence[int], seed: int, columns: Columns) -> list:
        found = []
        for k in ks:
            self.release(con, table, k, seed, columns)
            found += con.execute(
                f"SELECT {k}, NULL, {', '.join(MEASURES[1:])}, ? "
                f"FROM utility({literal(table)}, 'released', k := {k}, {columns})",
                [below(con, k, columns)],
            ).fetchall()
        return found


def once(given: Namespace, measure: Callable[[duckdb.DuckDBPyConnection, Namespace], None]):
    """Return a database in which ``measure`` has run, and the seconds that it took.

    With ``given.results``, a file, the database is kept, and a second run only reads it.
    """
    if given.results and given.results.exists():
        con = anon_sql.connect(str(given.results))
        [(asked, seconds)] = con.execute("SELECT asked, seconds FROM finished").fetchall()
        vars(given).update(json.loads(asked))
        return con, seconds
    con = anon_sql.connect(str(given.results or ":memory:"))
    con.execute(TABLES)
    began = time.monotonic()
    measure(con, given)
    seconds = time.monotonic() - began
    kept = {name: value for name, value in vars(given).items() if isinstance(value, int | list | str)}
    con.execute("INSERT INTO finished VALUES (?, ?)", [json.dumps(kept), seconds])
    return con, seconds


def classed(con, table: str, classes) -> None:
    """Create ``classed``, a table with an array of class ids beside its rows."""
    found = {"class_id": classes}
    con.register("found_classes", found)
    con.execute(
        f"CREATE OR REPLACE TABLE classed AS FROM {quote(table)} POSITIONAL JOIN found_classes"
    )
    con.unregister("found_classes")


def arrays(con, table: str, names: Sequence[str]) -> list:
    """Return columns of a table as arrays."""
    found = con.execute(f"SELECT {', '.join(map(quote, names))} FROM {quote(table)}").fetchnumpy()
    return [found[name] for name in names]


def below(con, k: int, columns: Columns) -> float:
    """Return the share of the classes of ``released`` that have fewer than k rows."""
    labels = ", ".join(map(quote, columns.qids))
    return con.execute(
        f"SELECT avg((n < {k})::INTEGER) FROM "
        f"(SELECT count(*) AS n FROM released GROUP BY {labels})"
    ).fetchall()[0][0]


def measure(
    con: duckdb.DuckDBPyConnection,
    experiment: str,
    table: str,
    methods: Iterable[Method],
    ks: Sequence[int],
    seeds: Sequence[int],
    columns: Columns,
) -> None:
    """Add the measures of each method; one without random choices runs with one seed only."""
    for method in methods:
        for seed in seeds if method.drawn else seeds[:1]:
            for k, *found in method.measure(con, table, ks, seed, columns):
                con.execute(
                    f"INSERT INTO measured VALUES ({', '.join('?' * 12)})",
                    [experiment, method.name, seed, k, *found],
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
    return grouped(
        con.execute(
            f"SELECT name, k, {of}({measure}) FROM measured WHERE experiment = ? "
            "GROUP BY ALL ORDER BY k, min(rowid)",
            [experiment],
        ).fetchall()
    )


def grouped(rows: Iterable[tuple]) -> dict[str, dict[int, float]]:
    """Return name → k → figure of rows of these three."""
    found: dict[str, dict[int, float]] = {}
    for name, k, figure in rows:
        found.setdefault(name, {})[k] = figure
    return found


def series(found: Means) -> dict[str, list[chart.Point]]:
    """Return the means as the lines of a chart."""
    return {name: list(points.items()) for name, points in found.items()}
