"""What measures of a release with very many classes cost beside DuckDB's own GROUP BY of its labels.

    python benchmarks/many_classes.py [--memory 4GB] [rows …]

For each number of rows (default 5 million) plain SQL makes a table of eight quasi-identifiers and
labels of it in about a class for every two rows, as Parquet. A fresh process for each statement runs
it once on a few rows and once on all: seconds, ratio to those of GROUP BY, and the most memory that
the process held, in MiB above what it held before.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time

LABELS = {"n": 1000, "m": 100, "a": 9, "b": 7, "c": 5, "d": 4, "e": 3, "f": 2}  # values of each
NUMBERS = ("n", "m")
CALLS = {
    "GROUP BY": f"SELECT min(n) FROM (SELECT count(*) AS n FROM released GROUP BY {', '.join(LABELS)})",
    "gcp": f"SELECT gcp('raw', 'released', quasi := {list(LABELS)})",
    "utility": f"FROM utility('raw', 'released', quasi := {list(LABELS)})",
    "k_anonymity": f"SELECT k_anonymity('raw', 'released', quasi := {list(LABELS)})",
}


def make(folder: str, rows: int) -> int:
    """Write table and release; return the number of classes."""
    import duckdb

    con = duckdb.connect()
    drawn = f"(hash(i % {rows // 2}, '{{0}}') % {{1}})::INTEGER"
    raw = [
        f"{drawn.format(name, many)} AS {name}"
        if name in NUMBERS
        else f"'{name}' || {drawn.format(name, many)} AS {name}"
        for name, many in LABELS.items()
    ]
    con.execute(
        f"COPY (SELECT {', '.join(raw)} FROM range({rows}) AS t(i)) TO '{folder}/raw.parquet'"
    )
    shown = [
        f"'[' || {name} || ', ' || least({name} + 1, {LABELS[name] - 1}) || ']'" for name in NUMBERS
    ]
    parts = [f"{label} AS {name}" for label, name in zip(shown, NUMBERS, strict=True)]
    parts += [name for name in LABELS if name not in NUMBERS]
    released = f"SELECT {', '.join(parts)} FROM '{folder}/raw.parquet'"
    con.execute(f"COPY ({released}) TO '{folder}/released.parquet'")
    return int(
        con.execute(f"SELECT count(*) FROM (SELECT DISTINCT * FROM ({released}))").fetchall()[0][0]
    )


def measure(folder: str, name: str, memory: str) -> list[float]:
    """Return seconds and MiB of one statement in this process."""
    import anon_sql

    con = anon_sql.connect()
    con.execute(f"SET memory_limit = '{memory}'; SET temp_directory = '{folder}/spilled'")
    for few in (True, False):
        for table in ("raw", "released"):
            limit = " LIMIT 20000" if few else ""
            con.execute(f"CREATE OR REPLACE VIEW {table} AS FROM '{folder}/{table}.parquet'{limit}")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started = time.perf_counter()
        con.execute(CALLS[name]).fetchall()
        seconds = time.perf_counter() - started
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return [seconds, (held - before) / 1024]


def main() -> None:
    """Print the table."""
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(*sys.argv[2:])))
        return
    reader = argparse.ArgumentParser()
    reader.add_argument("rows", nargs="*", type=int)
    reader.add_argument("--memory", default="4GB")
    asked = reader.parse_args()
    print("rows          classes     measure           s   ratio   MiB above")
    for rows in asked.rows or [5_000_000]:
        with tempfile.TemporaryDirectory() as folder:
            classes, yardstick = make(folder, rows), 0.0
            for name in CALLS:
                one = [sys.executable, __file__, "--one", folder, name, asked.memory]
                done = subprocess.run(one, capture_output=True, text=True, check=True)
                seconds, held = json.loads(done.stdout)
                yardstick = yardstick or seconds
                print(
                    f"{rows:<14,}{classes:<12,}{name:<12}{seconds:7.2f}{seconds / yardstick:8.2f}{held:12,.0f}"
                )


if __name__ == "__main__":
    main()
