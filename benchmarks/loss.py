"""Information loss against time, method by method, in one run.

    python benchmarks/loss.py [k …]

Prints GCP, counted by the SQL function of that name, and the seconds of each release on all
threads: Adult's 30,162 complete rows where the folder ../shared/data is there, else as many rows
of the demonstration table. Kernels are compiled before. What is not installed is left out.
"""

import sys
import time
from pathlib import Path

import duckdb

import anon_sql
from anon_sql import datasets

KS = [5, 10, 25, 50, 100]
SECONDS = 30  # for the search of 'best'
ROWS = 30_162
MIXED = [
    *("age", "workclass", "education_num", "marital_status"),
    *("occupation", "race", "sex", "native_country"),
]
NUMBERS = ["age", "fnlwgt", "capital_gain", "capital_loss", "hours_per_week"]
ADULT = Path(__file__).resolve().parents[2] / "shared" / "data" / "adult.parquet"
TREE = "vantage := 'max_spread', cut := 'aligned'"
METHODS = {
    "anonymize fast": "anonymize('{}', k := {}, quasi := {}, effort := 'fast')",
    "anonymize good": "anonymize('{}', k := {}, quasi := {}, effort := 'good')",
    "anonymize best": "anonymize('{}', k := {}, quasi := {}, effort := 'best', "
    f"time_limit := {SECONDS})",
    "mondrian": "mondrian('{}', k := {}, quasi := {})",
    "vp aligned, max_spread": "rayden('{}', k := {}, quasi := {}, alpha := 1e9, " + TREE + ")",
    "rayden": "rayden('{}', k := {}, quasi := {})",
    "rayden as printed": "rayden('{}', k := {}, quasi := {}, cut := 'median', tries := 1)",
}


def tables(con: duckdb.DuckDBPyConnection) -> dict[str, list[str]]:
    """Create the tables and name their quasi-identifiers; they hold nothing else."""
    if not ADULT.is_file():
        datasets.adult(con, ROWS, table="adult_like", roles=False)
        con.execute(f"CREATE TABLE mixed AS SELECT {', '.join(MIXED)} FROM adult_like")
        return {"mixed": MIXED}
    complete = "workclass IS NOT NULL AND occupation IS NOT NULL AND native_country IS NOT NULL"
    for name, columns in (("mixed", MIXED), ("numeric", NUMBERS)):
        con.execute(
            f"CREATE TABLE {name} AS SELECT {', '.join(columns)} FROM '{ADULT}' "
            f"WHERE split = 'train' AND {complete}"
        )
    return {"mixed": MIXED, "numeric": NUMBERS}


def measure(con: duckdb.DuckDBPyConnection, table: str, call: str) -> tuple[float, float]:
    """GCP and seconds of one release."""
    started = time.perf_counter()
    con.execute(f"CREATE OR REPLACE TABLE released AS FROM {call}")
    seconds = time.perf_counter() - started
    columns = [row[0] for row in con.sql(f"DESCRIBE {table}").fetchall()]
    loss = con.sql(f"SELECT gcp('{table}', 'released', quasi := {columns})").fetchall()[0][0]
    return loss, seconds


def usable(con: duckdb.DuckDBPyConnection, table: str, columns: list[str]) -> dict[str, str]:
    """The methods that are there, each run once on few rows so that its kernels are compiled."""
    con.execute(f"CREATE OR REPLACE TABLE few AS FROM {table} LIMIT 500")
    found = {}
    for name, call in METHODS.items():
        short = call.replace(f"time_limit := {SECONDS}", "rounds := 1")
        try:
            con.sql(f"FROM {short.format('few', 5, columns)}").fetchall()
        except (duckdb.CatalogException, duckdb.InvalidInputException) as error:
            print(f"left out: {name} ({str(error).splitlines()[0]})")
            continue
        found[name] = call
    return found


def main() -> None:
    con = anon_sql.connect()
    con.execute("SET enable_progress_bar = false")
    ks = [int(k) for k in sys.argv[1:]] or KS
    for table, columns in tables(con).items():
        methods = usable(con, table, columns)
        print(f"\n{table}: {', '.join(columns)}\nGCP and seconds")
        print(f"{'':24}" + "".join(f"{f'k = {k}':>17}" for k in ks))
        for name, call in methods.items():
            cells = [measure(con, table, call.format(table, k, columns)) for k in ks]
            line = "".join(f"{loss:10.4f}{seconds:7.2f}" for loss, seconds in cells)
            print(f"{name:24}{line}", flush=True)


if __name__ == "__main__":
    main()
