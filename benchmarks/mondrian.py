"""The classic methods beside anonypy, and Mondrian beside DuckDB's own ORDER BY, in one process.

    python benchmarks/mondrian.py [rows for ORDER BY …]

First the partition alone, k = 10, on the same 30,000 rows: CPU seconds of this project's methods
(the least of three runs) and of anonypy's Mondrian (one run), and how often one goes into the
other. anonypy is no dependency: without it only our own figures are shown. Then the whole of

    CREATE TABLE … AS SELECT * FROM mondrian('adult_like', k := 10, keep := ['*'])

in turn with an ORDER BY of the quasi-identifiers, three times each after one run that is not
counted, the least of each in wall seconds. Absolute times are of one machine on one day; the
ratios are what is claimed: mondrian at least 200 times and top_down at least 10 times as fast.
"""

import sys
import time
from collections.abc import Callable
from typing import Any

import duckdb

import anon_sql
from anon_sql import datasets
from anon_sql.core.running import Workers
from anon_sql.core.table import QuasiTable, read_table
from anon_sql.methods.method import Call, Partition, find_method
from anon_sql.privacy.constraint import Constraint

QUASI = [
    *("age", "workclass", "education_num", "marital_status"),
    *("occupation", "race", "sex", "native_country"),
]
NUMBERS = ["age", "education_num"]
K, RUNS = 10, 3
METHODS = ("mondrian", "top_down", "k_member", "oka")


def cpu(call: Callable[[], Any]) -> float:
    """CPU seconds of one call."""
    started = time.process_time()
    call()
    return time.process_time() - started


def table_of(con: duckdb.DuckDBPyConnection, name: str) -> QuasiTable:
    """The quasi-identifiers of a table as a method gets them."""
    types = {row[0]: row[1] for row in con.sql(f"DESCRIBE {name}").fetchall()}
    listed = ", ".join(QUASI)
    found = con.sql(f"SELECT {listed}, hash({listed}) AS hash FROM {name}").to_arrow_table()
    columns = {column: found[column].combine_chunks() for column in QUASI}
    chosen = {column: types[column] for column in QUASI}
    table = read_table("benchmark", chosen, columns, found["hash"].combine_chunks(), Workers("", 1))
    table.only(table.order < 0)  # its points and its model are made once, and not counted
    return table


def partition(method: str, table: QuasiTable) -> Partition:
    """The classes of a method with its defaults, on one thread."""
    found = find_method(method)
    call = Call(method, Constraint(K), 42, Workers(method, 1), found.takes())
    result: Partition = found.run(table, call)
    return result


def beside_anonypy(con: duckdb.DuckDBPyConnection) -> None:
    datasets.adult(con, 30_000, table="few", seed=42, roles=False)
    table = table_of(con, "few")
    ours = {}
    for method in METHODS:
        partition(method, table.only(table.order < 500))  # compiled or loaded
        ours[method] = min(cpu(lambda m=method: partition(m, table)) for _ in range(RUNS))
    theirs = None
    try:
        from anonypy.mondrian import Mondrian
    except ImportError:
        print("anonypy is not installed (pip install anonypy): no comparison\n")
    else:
        frame = con.sql(f"SELECT {', '.join(QUASI)} FROM few").df()
        for column in set(QUASI) - set(NUMBERS):
            frame[column] = frame[column].astype("category")
        frame["sensitive"] = 0
        theirs = cpu(lambda: Mondrian(frame, QUASI, "sensitive").partition(K))
    print("partition of 30,000 rows   CPU s    times as fast")
    for method, seconds in ours.items():
        print(f"{method:24}{seconds:8.3f}" + (f"{theirs / seconds:17,.0f}" if theirs else ""))
    if theirs:
        print(f"{'anonypy':24}{theirs:8.3f}")


def beside_order_by(con: duckdb.DuckDBPyConnection, rows: int, threads: int) -> None:
    con.execute(f"SET threads = {threads}")
    datasets.adult(con, rows, table="adult_like", seed=42, roles=False)
    listed = ", ".join(QUASI)
    statements = (
        f"CREATE OR REPLACE TABLE sorted AS SELECT * FROM adult_like ORDER BY {listed}",
        f"CREATE OR REPLACE TABLE release AS FROM mondrian('adult_like', k := {K}, quasi := {QUASI}, keep := ['*'])",
    )
    seconds: list[list[float]] = [[], []]
    for _ in range(RUNS + 1):
        for statement, times in zip(statements, seconds, strict=True):
            started = time.perf_counter()
            con.execute(statement)
            times.append(time.perf_counter() - started)
    sort, release = (min(times[1:]) for times in seconds)
    table = table_of(con, "adult_like")
    kernel = min(cpu(lambda: partition("mondrian", table)) for _ in range(RUNS))
    print(
        f"{rows:9,}{threads:9}{sort:12.3f}{release:11.3f}{release / sort:7.1f}{kernel:17.3f}",
        flush=True,
    )


def main() -> None:
    con = anon_sql.connect()
    beside_anonypy(con)
    print("\n     rows  threads  ORDER BY s  release s  ratio  partition CPU s")
    for rows in [int(rows) for rows in sys.argv[1:]] or [100_000, 1_000_000]:
        for threads in (1, 2):
            con.execute("DROP TABLE IF EXISTS adult_like")
            beside_order_by(con, rows, threads)


if __name__ == "__main__":
    main()
