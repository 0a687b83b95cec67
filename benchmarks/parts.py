"""What a release in parts costs beside one statement and beside DuckDB's external ORDER BY.

    python benchmarks/parts.py [--memory 4GB] [--part-rows 500000] [--k 10] [--no-gcp] [--audit]
        [--ways WAY …] [rows …]

For each number of rows an Adult-like Parquet file is made: eight quasi-identifiers, one sensitive
column. Each of the following runs in a process of its own under the same ``memory_limit``:

    COPY (FROM file ORDER BY <quasi-identifiers>) TO sorted.parquet
    COPY (FROM anonymize(file)) TO whole.parquet                        one statement
    anon_sql.release(con, file, into='parts.parquet', part_rows=…)    in parts

or what --ways names: sort, whole, parts, fast (parts with effort = 'fast') and judged (``audit`` of the
release in parts, after it), and prints seconds, CPU seconds, the ratio of the seconds to those of ORDER BY, peak memory of the
process (a release in parts starts no others), and the GCP and its ratio to one statement's. One
statement that does not fit into memory is shown as refused. With ``--audit`` the table has a number
for each row as one more kept column, and DuckDB checks the file of the release in parts: its rows,
its smallest class, and the labels of a million random rows against the rows of the table. Absolute
times are of one machine on one day; the ratios are what is claimed.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROWS = [100_000]
STEP = 5_000_000  # rows that are made at a time
DRAWN = 1_000_000  # rows whose labels are checked
QUASI = [
    *("age", "workclass", "education_num", "marital_status"),
    *("occupation", "race", "sex", "native_country"),
]


def make(folder: str, rows: int, numbered: int) -> None:
    """Write the files of an Adult-like table; numbered: whether with the number of each row."""
    import anon_sql
    from anon_sql import datasets

    con = anon_sql.connect()
    for number, first in enumerate(range(0, rows, STEP)):
        datasets.adult(con, min(STEP, rows - first), table="adult_like", seed=number, roles=False)
        id = f", rowid + {first} AS id" if numbered else ""
        con.execute(f"COPY (SELECT *{id} FROM adult_like) TO '{folder}/source_{number}.parquet'")
        con.execute("DROP TABLE adult_like")


def measure(kind: str, folder: str, memory: str, part_rows: int, k: int) -> dict[str, Any]:
    """Return seconds, CPU seconds and peak memory of one way, in this process."""
    import duckdb

    import anon_sql

    con = anon_sql.connect()
    con.execute(f"SET memory_limit = '{memory}'; SET temp_directory = '{folder}/spilled'")
    source = f"read_parquet('{folder}/source_*.parquet')"
    con.execute(f"CREATE VIEW adult_like AS FROM {source}")
    given = {"k": k, "quasi": QUASI, "keep": ["*"], "overwrite": True}
    con.execute("CREATE TABLE few AS FROM adult_like LIMIT 2000")
    anon_sql.release(con, "few", into=f"{folder}/few.parquet", part_rows=500, **given)  # kernels
    started, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    found: dict[str, Any] = {}
    try:
        if kind == "sort":
            con.execute(
                f"COPY (FROM adult_like ORDER BY {', '.join(QUASI)}) TO '{folder}/sort.parquet'"
            )
        elif kind == "whole":
            call = f"anonymize('adult_like', k := {k}, quasi := {QUASI}, keep := ['*'])"
            con.execute(f"COPY (FROM {call}) TO '{folder}/whole.parquet'")
        elif kind == "judged":
            con.execute(f"CREATE VIEW released AS FROM '{folder}/parts.parquet'")
            call = f"audit('adult_like', 'released', k := {k}, quasi := {QUASI}, keep := ['*'])"
            found["failed"] = con.execute(
                f"SELECT count(*) FROM {call} WHERE NOT passed"
            ).fetchone()
        else:
            effort, into = "fast" if kind == "fast" else "good", f"{folder}/{kind}.parquet"
            made = anon_sql.release(
                con, "adult_like", into=into, part_rows=part_rows, effort=effort, **given
            )
            found["regions"] = made.parts
    except duckdb.Error as error:
        if "must fit into memory" not in str(error):
            raise
        return {"refused": True}
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
    found |= {"seconds": time.perf_counter() - started, "cpu": cpu}
    return {**found, "peak": after.ru_maxrss / 1024, "before": used.ru_maxrss / 1024}


def gcp(folder: str, kind: str) -> float:
    """Return the GCP of a release."""
    import anon_sql

    con = anon_sql.connect()
    con.execute(f"CREATE VIEW adult_like AS FROM '{folder}/source_*.parquet'")
    con.execute(f"CREATE VIEW released AS FROM '{folder}/{kind}.parquet'")
    found = con.execute(f"SELECT gcp('adult_like', 'released', quasi := {QUASI})").fetchall()
    return float(found[0][0])


def audit(folder: str, rows: int) -> list[int]:
    """Return rows of the release, its smallest class, rows that were drawn, and true ones of them.

    A drawn row is found by its number; it is true if each label holds the value of the table.
    """
    import anon_sql

    con = anon_sql.connect()
    released, labels = f"read_parquet('{folder}/parts.parquet')", ", ".join(QUASI)
    found = con.execute(
        f"SELECT sum(n), min(n) FROM (SELECT count(*) AS n FROM {released} GROUP BY {labels})"
    ).fetchall()[0]
    every = max(rows // DRAWN, 1)
    drawn = f"WHERE hash(id) % {every} = 0"
    con.execute(f"CREATE TABLE a AS FROM '{folder}/source_*.parquet' {drawn}")
    con.execute(f"CREATE TABLE b AS FROM {released} {drawn}")
    kinds = dict(con.execute("SELECT column_name, column_type FROM (DESCRIBE a)").fetchall())
    holds = [
        f"list_contains(anon_values(b.{name}), a.{name})"
        if kinds[name] == "VARCHAR"
        else f"a.{name} BETWEEN anon_min(b.{name})::DOUBLE AND anon_max(b.{name})::DOUBLE"
        for name in QUASI
    ]
    true = f"count(*) FILTER ({' AND '.join(holds)} AND a.income = b.income)"
    found += con.execute(f"SELECT count(*), {true} FROM a LEFT JOIN b USING (id)").fetchall()[0]
    return [int(each) for each in found]


def in_process(*arguments: object) -> Any:
    """Return what a function of this file returns in a process of its own."""
    command = [sys.executable, __file__, "--one", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def compare(
    rows: int,
    memory: str,
    part_rows: int,
    k: int,
    with_gcp: bool,
    audited: bool,
    ways: Sequence[str],
) -> None:
    """Print a line for each way."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        in_process("make", folder, rows, int(audited))
        lost: dict[str, float] = {}
        yardstick = 0.0
        for kind in ways:
            row = in_process("measure", kind, folder, memory, part_rows, k)
            if "refused" in row:
                print(f"{rows:12,}  {kind:6} does not fit into memory")
                continue
            yardstick = yardstick or row["seconds"]
            line = f"{rows:12,}  {kind:6}{row['seconds']:9.1f}{row['cpu']:9.1f}"
            line += f"{row['seconds'] / yardstick:8.2f}{row['peak']:10,.0f}{row['before']:10,.0f}"
            if kind in ("whole", "parts", "fast") and with_gcp:
                lost[kind] = in_process("gcp", folder, kind)
                line += f"{lost[kind]:10.5f}{lost[kind] / lost.get('whole', lost[kind]):8.3f}"
            print(line, f"{row.get('regions', ''):>6}", flush=True)
        if audited:
            held, least, drawn, true = in_process("audit", folder, rows)
            print(
                f"{held:12,}  released, smallest class {least}; labels true of {true:,} of {drawn:,}"
            )


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        function, *given = sys.argv[2:]
        call = {"make": make, "measure": measure, "gcp": gcp, "audit": audit}[function]
        print(json.dumps(call(*(int(each) if each.isdigit() else each for each in given))))
        return
    reader = argparse.ArgumentParser()
    reader.add_argument("rows", nargs="*", type=int)
    reader.add_argument("--memory", default="4GB")
    reader.add_argument("--part-rows", type=int, default=500_000)
    reader.add_argument("--k", type=int, default=10)
    reader.add_argument("--no-gcp", action="store_true")
    reader.add_argument("--audit", action="store_true")
    reader.add_argument("--ways", nargs="+", default=["sort", "whole", "parts"])
    asked = reader.parse_args()
    print(
        "        rows  way     seconds      CPU   ratio  peak MiB  of that before     GCP   ratio regions"
    )
    for rows in asked.rows or ROWS:
        compare(
            rows,
            asked.memory,
            asked.part_rows,
            asked.k,
            not asked.no_gcp,
            asked.audit,
            asked.ways,
        )


if __name__ == "__main__":
    main()
