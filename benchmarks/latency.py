"""What a call on a small table costs beside SELECT 1 and DuckDB's own ORDER BY of the same table.

    python benchmarks/latency.py [rows …]

For each number of rows (default 60 and 1,000) one process opens a database, makes a table of four
columns and its release, and runs each statement some times after one run that is not counted. The
table gives the least time of each as a multiple of the two others and of a unit of work, ``SELECT
sum(hash(i)) FROM range(5000000) r(i)`` on one thread, which runs between them, since times alone are
of one machine on one day. ``connect`` is ``anon_sql.connect()`` beside ``duckdb.connect()``.
"""

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import duckdb

import anon_sql

ROWS = [60, 1_000]
RUNS = 15
QUASI = "quasi := ['age', 'city', 'code']"
UNIT = "SELECT sum(hash(i)) FROM range(5000000) r(i)"
STATEMENTS = {
    "rayden": f"FROM rayden('people', k := 5, {QUASI}, keep := 'illness')",
    "anonymize": f"FROM anonymize('people', k := 5, {QUASI}, keep := 'illness')",
    "gcp": f"SELECT gcp('people', 'release', {QUASI})",
    "utility": f"FROM utility('people', 'release', k := 5, {QUASI})",
    "l_diversity": f"SELECT l_diversity('people', 'release', {QUASI}, sensitive := 'illness')",
    "audit": f"FROM audit('people', 'release', k := 5, {QUASI}, keep := 'illness')",
}


def answer(con: duckdb.DuckDBPyConnection, statement: str) -> Any:
    """Return the rows of a statement."""
    return con.execute(statement).fetchall()


def least(call: Callable[[], Any], runs: int = RUNS) -> float:
    """Return the least seconds of some runs, the first one not counted."""
    call()
    found = []
    for _ in range(runs):
        started = time.perf_counter()
        call()
        found.append(time.perf_counter() - started)
    return min(found)


def unit() -> float:
    """Return the least seconds of the unit."""
    with duckdb.connect(config={"threads": 1}) as con:
        return least(partial(answer, con, UNIT), 3)


def main() -> None:
    """Print the table."""
    opened = least(lambda: duckdb.connect().close(), 5)
    registered = least(lambda: anon_sql.connect().close(), 5)
    print(f"connect: {registered / opened:.0f} times duckdb.connect() ({registered:.3f} s)")
    print("rows    statement      SELECT 1   ORDER BY     unit        ms")
    for rows in [int(rows) for rows in sys.argv[1:]] or ROWS:
        con = anon_sql.connect()
        con.execute(
            "CREATE TABLE people AS SELECT 18 + i * 7919 % 60 AS age, 'city ' || i % 5 AS city, "
            f"i * 31 % 17 AS code, ['flu', 'asthma', 'none'][1 + i % 3] AS illness FROM range({rows}) r(i)"
        )
        con.execute(f"CREATE TABLE release AS {STATEMENTS['rayden']}")
        one, sort = (
            least(partial(answer, con, text)) for text in ("SELECT 1", "FROM people ORDER BY ALL")
        )
        for name, statement in STATEMENTS.items():
            before = unit()
            taken = least(partial(answer, con, statement))
            work = min(before, unit())
            print(
                f"{rows:<8,}{name:<12}{taken / one:9.0f}{taken / sort:11.0f}{taken / work:9.2f}"
                f"{taken * 1000:10.1f}"
            )


if __name__ == "__main__":
    main()
