"""What a transparent release costs: GCP and time, beside the same release with a largest share 1/l.

    python -m benchmarks.transparent [--rows 5000] [--tables 3] [--times 3] [adult.parquet]

Quasi-identifiers are the seven columns of Adult besides occupation and income, sensitive is the
occupation. The tables are disjoint parts of Adult, of the file if it is given, else generated. GCP is a
mean over tables; the time is the median of calls in turn.
"""

import argparse
import statistics
import time

import anon_sql
from anon_sql import datasets

QUASI = ["age", "workclass", "education_num", "marital_status", "race", "sex", "native_country"]
KEY = "a secret of the owner"


def load(con, file, rows, tables):
    if file is None:
        datasets.adult(con, rows * tables)
        source = "adult"
    else:
        source = f"'{file}'"
    columns = ", ".join([*QUASI, "occupation"])
    con.execute(f"CREATE TABLE everybody AS SELECT {columns}, hash(a) AS h FROM {source} AS a")
    for number in range(tables):
        con.execute(
            f"CREATE TABLE t{number} AS SELECT * EXCLUDE h FROM everybody WHERE occupation IS NOT "
            f"NULL ORDER BY h LIMIT {rows} OFFSET {rows * number}"
        )


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("file", nargs="?")
    asked.add_argument("--rows", type=int, default=5_000)
    asked.add_argument("--tables", type=int, default=3)
    asked.add_argument("--times", type=int, default=3)
    given = asked.parse_args()
    con = anon_sql.connect()
    load(con, given.file, given.rows, given.tables)
    roles = f"quasi := {QUASI}, sensitive := 'occupation', key := '{KEY}'"
    print(
        "| k | constraint | GCP | GCP transparent | ratio | time | smallest class |\n|---|---|---|---|---|---|---|"
    )
    for k in (5, 10):
        for plain, asked_for in (
            ("max_share := 0.5", "l := 2"),
            (f"max_share := {1 / 3}", "l := 3"),
            ("t := 0.5", "t := 0.5"),
        ):
            calls = (plain, f"{asked_for}, transparent := true")
            losses, seconds, least = ([], []), ([], []), 10**9
            for number in range(given.tables):
                for _ in range(given.times):
                    for at, call in enumerate(calls):
                        began = time.perf_counter()
                        con.execute(
                            "CREATE OR REPLACE TABLE released AS "
                            f"FROM anonymize('t{number}', k := {k}, {call}, {roles})"
                        )
                        seconds[at].append(time.perf_counter() - began)
                        loss = con.execute(f"SELECT gcp('t{number}', 'released', quasi := {QUASI})")
                        losses[at].append(loss.fetchone()[0])
                        count = con.execute(
                            f"SELECT k_anonymity('t{number}', 'released', quasi := {QUASI})"
                        )
                        least = min(least, count.fetchone()[0])
            before, after = map(statistics.mean, losses)
            ratio = statistics.median(seconds[1]) / statistics.median(seconds[0])
            print(
                f"| {k} | {asked_for} | {before:.4f} | {after:.4f} | {after / before:.2f} | "
                f"{ratio:.2f} x | {least} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
