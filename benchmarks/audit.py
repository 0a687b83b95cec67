"""What an audit costs beside DuckDB's own ORDER BY of the same table, in the same process.

    python benchmarks/audit.py [--memory 4GB] [rows …]

The table is Adult-like with a column that tells nearly every row (``unique``) or without one
(``alike``: income alone is kept, so that many rows have the same kept values, the worst case). In
turn three times, after one run of each that is not counted,

    CREATE TABLE … AS FROM adult_like ORDER BY ALL
    FROM audit('adult_like', 'release', 10)
    FROM audit('adult_like', 'release', 10, l := 1, t := 1)

and the least CPU time of each on one thread, the ratios to the first and what ``matching`` found. Absolute
times are of one machine on one day; the ratios are what is claimed.

Bytes are of the last of these statements in a process of its own, which reads the tables from a
file: the most that the process held above what it held before, after an audit of 2,000 rows, for
each row of the raw table (on Linux). They include the blocks of the file that DuckDB keeps within
``memory_limit``, here --memory.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import anon_sql
from anon_sql import datasets

ROWS = [30_000, 1_000_000]
RUNS = 3
AUDIT = "FROM audit('adult_like', 'release', 10)"
ASKED = "FROM audit('adult_like', 'release', 10, l := 1, t := 1)"


def make(con, rows: int, kept: str) -> None:
    """Make the table and its release."""
    datasets.adult(con, rows, table="adult_like", seed=42, roles=False)
    anon_sql.declare(con, "adult_like", quasi=datasets.QUASI, sensitive=datasets.SENSITIVE)
    if kept == "unique":
        con.execute("ALTER TABLE adult_like ADD COLUMN weight DOUBLE")
        con.execute("UPDATE adult_like SET weight = hash(rowid) / 1e10")
        anon_sql.declare(con, "adult_like", keep=["weight"])
    con.execute("CREATE TABLE release AS FROM anonymize('adult_like', k := 10, effort := 'fast')")


def measure(rows: int, kept: str, memory: str) -> str:
    con = anon_sql.connect()
    con.execute("SET threads = 1")
    make(con, rows, kept)
    sort = "CREATE OR REPLACE TABLE sorted AS FROM adult_like ORDER BY ALL"
    least = {}
    for run in range(RUNS + 1):
        for statement in (sort, AUDIT, ASKED):
            started = time.process_time()
            found = con.execute(statement).fetchall()
            spent = time.process_time() - started
            if run:
                least[statement] = min(spent, least.get(statement, spent))
    matching = next(row[2] for row in found if row[0] == "matching")
    con.close()
    told = "".join(
        f"{least[each]:10.2f}{least[each] / least[sort]:8.1f}" for each in (AUDIT, ASKED)
    )
    held = bytes_a_row(rows, kept, memory)
    return f"{kept:8}{rows:12,}{least[sort]:13.2f}{told}{held:10,.0f}  {matching}"


def bytes_a_row(rows: int, kept: str, memory: str) -> float:
    """Return the bytes that an audit of a file holds for each row, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        for name, count in (("few", 2000), ("all", rows)):
            con = anon_sql.connect(f"{folder}/{name}.duckdb")
            make(con, count, kept)
            con.close()
        one = [sys.executable, __file__, "--one", folder, "--memory", memory]
        found = subprocess.run(one, capture_output=True, text=True, check=True)
    return float(found.stdout) / rows


def held(folder: str, memory: str) -> int:
    """Return the bytes that an audit adds to the most that this process held."""
    most = []
    for name in ("few", "all"):
        con = anon_sql.connect(f"{folder}/{name}.duckdb")
        con.execute(f"SET memory_limit = '{memory}'")
        con.execute(ASKED).fetchall()
        con.close()
        status = Path("/proc/self/status").read_text("ascii")
        most.append(int(status.partition("VmHWM:")[2].split()[0]) * 1024)
    return most[1] - most[0]


def main() -> None:
    given = argparse.ArgumentParser()
    given.add_argument("rows", nargs="*", type=int, default=ROWS)
    given.add_argument("--memory", default="4GB")
    given.add_argument("--one")
    asked = given.parse_args()
    if asked.one:
        print(held(asked.one, asked.memory))
        return
    print("kept            rows  ORDER BY s   audit s   ratio   l, t s   ratio bytes/row  matching")
    for rows in asked.rows:
        for kept in ("unique", "alike"):
            print(measure(rows, kept, asked.memory), flush=True)


if __name__ == "__main__":
    main()
