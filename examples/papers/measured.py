"""Measures of many releases in one table, ``measured``: a row per experiment, name, seed and k."""

import json
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence

import chart
import duckdb
from released import Columns, Method

import anon_sql
from anon_sql.core.names import literal

TABLES = """
    CREATE TABLE measured (
        experiment VARCHAR, name VARCHAR, seed INTEGER, k INTEGER,
        seconds DOUBLE, rows DOUBLE, classes DOUBLE, dm DOUBLE, cavg DOUBLE, gcp DOUBLE,
        suppressed DOUBLE, below DOUBLE
    );
    CREATE TABLE finished (asked JSON);
    CREATE MACRO spread(found, digits) AS
        CASE WHEN min(found) = max(found) THEN format('{:,.' || digits || 'f}', avg(found))
        ELSE format(
            '{:,.' || digits || 'f} ({:,.' || digits || 'f}–{:,.' || digits || 'f})',
            avg(found), min(found)::DOUBLE, max(found)::DOUBLE) END
"""
Means = Mapping[str, Mapping[int, float]]  # name → k → figure


Measure = Callable[[duckdb.DuckDBPyConnection, Namespace], None]


def once(given: Namespace, measure: Measure) -> duckdb.DuckDBPyConnection:
    """Return a database in which ``measure`` has run.

    With ``given.results``, a file, the database is kept, and a second run only reads it.
    """
    if given.results is None:
        return _run(":memory:", given, measure)
    if not given.results.exists():
        part = given.results.with_name(given.results.name + ".part")
        part.unlink(missing_ok=True)
        _run(str(part), given, measure).close()
        part.rename(given.results)
    con = anon_sql.connect(str(given.results))
    [(asked,)] = con.execute("FROM finished").fetchall()
    vars(given).update(json.loads(asked))
    return con


def _run(file: str, given: Namespace, measure: Measure) -> duckdb.DuckDBPyConnection:
    con = anon_sql.connect(file)
    con.execute(TABLES)
    measure(con, given)
    kept = {name: at for name, at in vars(given).items() if isinstance(at, int | list | str)}
    con.execute("INSERT INTO finished VALUES (?)", [json.dumps(kept)])
    return con


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
