"""The times of a steward's steps on a large table: a million rows, 40 columns, 8 quasi-identifiers.

    python benchmarks/workbench.py [--rows 1000000] [--columns 40]

The table is Adult-like, with columns of random numbers and texts beside it. Prints a row a step, in the
form of docs/measurements/large-releases.md: the seconds on the clock, the limit of the design, and the
most memory that the process held so far. A call on a hundredth of the rows loads the kernels first.
*stop* is the time from ``anon_sql.interrupt`` to the end of a good release that has worked for three
seconds.
"""

import argparse
import threading
import time
from collections.abc import Callable
from contextlib import suppress

import duckdb
from peak import peak

import anon_sql
from anon_sql import datasets

QUASI = "age workclass education_num marital_status occupation race sex native_country".split()
ROLES = f"quasi := {QUASI}, sensitive := ['income']"
PAIR = f"'raw', 'released', quasi := {QUASI}"
QUERIES = f"SET VARIABLE queries = (SELECT list(query) FROM query_workload('raw', n := 100, quasi := {QUASI}))"
MEASURES = (
    f"FROM utility({PAIR})",
    f"FROM attribute_loss({PAIR})",
    f"FROM risk({PAIR})",
    f"FROM attack_inference({PAIR}, sensitive := ['income'])",
    QUERIES,
    f"FROM workload_error('raw', 'released', getvariable('queries'), quasi := {QUASI})",
)


def make(con: duckdb.DuckDBPyConnection, rows: int, columns: int) -> None:
    """Make the tables raw and few."""
    datasets.adult(con, rows=rows, table="adult")
    more = columns - len(con.table("adult").columns)
    others = ", ".join(
        f"hash(rowid + {at}) % {10 ** (1 + at % 6)} AS number_{at}"
        if at % 2
        else f"'text ' || hash(rowid * {at + 1}) % {7 * (at + 1)} AS text_{at}"
        for at in range(more)
    )
    con.execute(f"CREATE TABLE raw AS SELECT *, {others} FROM adult; DROP TABLE adult")
    con.execute(f"CREATE TABLE few AS FROM raw LIMIT {rows // 100}")


def release(table: str, effort: str) -> str:
    return (
        f"CREATE OR REPLACE TABLE released AS FROM anonymize('{table}', k := 10, l := 2, {ROLES}, "
        f"exclude := ['*'], effort := '{effort}')"
    )


def audit(table: str) -> str:
    return f"FROM audit('{table}', 'released', k := 10, l := 2, {ROLES}, exclude := ['*'])"


def stopped(con: duckdb.DuckDBPyConnection) -> float:
    """Return the seconds from a stop to the end of the release."""
    asked: list[float] = []

    def ask() -> None:
        asked.append(time.perf_counter())
        anon_sql.interrupt(con)

    timer = threading.Timer(3, ask)
    timer.start()
    with suppress(duckdb.Error):
        con.execute(release("raw", "good"))
    timer.join()
    return time.perf_counter() - asked[0]


def timed(name: str, limit: float, work: Callable[[], object]) -> None:
    """Print the seconds of some work."""
    started = time.perf_counter()
    _, most = peak(work)
    print(
        f"| {name} | {time.perf_counter() - started:.1f} | {limit} | {most / 1024:.1f} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=40)
    chosen = parser.parse_args()
    con = anon_sql.connect()
    make(con, chosen.rows, chosen.columns)
    for effort in ("fast", "good"):
        con.execute(release("few", effort))
    con.execute(audit("few")).fetchall()
    for sql in MEASURES:
        con.execute(sql.replace("'raw'", "'few'")).fetchall()
    con.execute("FROM suggest_roles('few')").fetchall()
    print("| step | seconds | limit | GiB |\n|---|---|---|---|")
    timed("roles", 10, lambda: con.execute("FROM suggest_roles('raw')").fetchall())
    timed("fast release", 20, lambda: con.execute(release("raw", "fast")))
    timed("measures", 30, lambda: [con.execute(sql).fetchall() for sql in MEASURES])
    timed("good release", 60, lambda: con.execute(release("raw", "good")))
    timed("audit", 40, lambda: con.execute(audit("raw")).fetchall())
    print(f"| stop | {stopped(con):.1f} | 2 | |")


if __name__ == "__main__":
    main()
