"""How much more a release in parts loses than one statement at the same search width.

    python benchmarks/regions.py [--rows N …] [--k K …] [--part-rows N …] [--case CASE …]
        [--columns mixed|numeric …] [--strata COLUMN …] [--effort fast|good] [--own-width]
        [--memory 12GB]

For each case an Adult-like Parquet file is made: eight quasi-identifiers (mixed), or five of
numbers (numeric), and with a case other than 'plain' one more column that is hard to cut. It is
released in one statement and in parts of each size, and a line shows the GCP of both and the ratio.

``effort='good'`` compares each row with 192 to 4,096 others, the more the fewer rows a call has, so
that a region of a large table is searched wider than the whole. Here regions are searched as wide
as the whole; ``--own-width`` leaves them their own width.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

STEP = 5_000_000  # rows that are made at a time
MIXED = [
    *("age", "workclass", "education_num", "marital_status"),
    *("occupation", "race", "sex", "native_country"),
]
NUMERIC = ["age", "education_num", "hours", "gain", "weight"]
DRAWN = "(hash(id, {}) / 2.0 ** 64)"  # in [0, 1), of a row
CASES = {
    "plain": "",
    "skewed": f"floor(2000 * {DRAWN.format(1)} ** 12)::INTEGER",
    "constant": "7",
    "null": "NULL::INTEGER",
    "unique": "hash(id, 2)",
    "sorted": "id // 100",
}


def make(folder: str, rows: int, case: str) -> None:
    """Write the files of a table, in the order of its column ``extra`` where that is sorted."""
    import anon_sql
    from anon_sql import datasets

    con = anon_sql.connect()
    extra = f", {CASES[case]} AS extra" if CASES[case] else ""
    hours = f"least(99, greatest(1, 40 + (12 * ln(1 / {DRAWN.format(3)} - 1) / 2)::INTEGER))"
    gain = f"if({DRAWN.format(4)} < 0.92, 0, (500 / (1.01 - {DRAWN.format(5)}))::INTEGER)"
    weight = f"(12000 + 180000 * exp({DRAWN.format(6)} + age / 90.0 - 1))::INTEGER"
    for number, first in enumerate(range(0, rows, STEP)):
        datasets.adult(con, min(STEP, rows - first), table="adult_like", seed=number, roles=False)
        con.execute(
            f"COPY (SELECT * EXCLUDE (id), {hours} AS hours, {gain} AS gain, {weight} AS weight"
            f"{extra} FROM (SELECT *, rowid + {first} AS id FROM adult_like)) "
            f"TO '{folder}/source_{number}.parquet'"
        )
        con.execute("DROP TABLE adult_like")


def compare(rows: int, columns: str, case: str, asked: argparse.Namespace) -> None:
    """Print a line for each k and size of regions."""
    import anon_sql
    from anon_sql.methods import ordering

    if not asked.own_width:
        least, most = ordering.WINDOW_ROWS
        width = min(max(ordering.AIMED_COMPARISONS // rows, least), most)
        ordering.WINDOW_ROWS = (width, width)
    quasi = MIXED if columns == "mixed" else NUMERIC
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        make(folder, rows, case)
        con = anon_sql.connect(f"{folder}/releases.duckdb")
        con.execute(f"SET memory_limit = '{asked.memory}'")
        names = [*quasi, *(["extra"] if CASES[case] else [])]
        con.execute(
            f"CREATE VIEW source AS SELECT {', '.join(names)} FROM '{folder}/source_*.parquet'"
        )
        for k in asked.k:
            given = {"k": k, "quasi": names, "effort": asked.effort}
            given |= {"strata": asked.strata} if asked.strata else {}
            listed = ", ".join(f"{name} := ${name}" for name in given)
            call = f"anonymize('source', {listed})"
            con.execute(f"CREATE OR REPLACE TABLE whole AS FROM {call}", given)
            whole = gcp(con, "whole", names)
            for part_rows in asked.part_rows:
                made = anon_sql.release(
                    con, "source", into="parts", overwrite=True, part_rows=part_rows, **given
                )
                parts = gcp(con, "parts", names)
                print(
                    f"{rows:12,}{k:5}  {columns:8} {case:9}{part_rows:10,}{made.parts:8}"
                    f"{whole:10.5f}{parts:10.5f}{parts / whole:8.4f}",
                    flush=True,
                )
        con.close()


def gcp(con, released: str, names: list[str]) -> float:
    """Return the GCP of a release."""
    found = con.execute(f"SELECT gcp('source', '{released}', quasi := {names})").fetchall()
    return float(found[0][0])


def main() -> None:
    reader = argparse.ArgumentParser()
    reader.add_argument("--rows", nargs="*", type=int, default=[1_000_000])
    reader.add_argument("--k", nargs="*", type=int, default=[5, 10, 100])
    reader.add_argument("--part-rows", nargs="*", type=int, default=[100_000, 500_000])
    reader.add_argument("--case", nargs="*", choices=CASES, default=list(CASES))
    reader.add_argument("--columns", nargs="*", default=["mixed", "numeric"])
    reader.add_argument("--strata", nargs="*", default=[])
    reader.add_argument("--effort", default="good")
    reader.add_argument("--own-width", action="store_true")
    reader.add_argument("--memory", default="12GB")
    reader.add_argument("--one", help=argparse.SUPPRESS)
    asked = reader.parse_args()
    if asked.one:
        rows, columns, case = json.loads(asked.one)
        compare(rows, columns, case, asked)
        return
    print("        rows    k  columns  case     region rows regions   whole     parts   ratio")
    for rows in asked.rows:
        for columns in asked.columns:
            for case in asked.case:
                one = ["--one", json.dumps([rows, columns, case])]
                if subprocess.run([sys.executable, *sys.argv, *one], check=False).returncode:
                    sys.exit(1)


if __name__ == "__main__":
    main()
