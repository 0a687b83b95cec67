"""What l and t cost: GCP of releases under k alone and under l and t, method by method.

    python benchmarks/protection.py [k]
    python benchmarks/protection.py --rare [k]

Adult's 30,162 complete rows where the folder ../shared/data is there, else as many rows of the
demonstration table. Each release is measured by SQL: GCP, and the k, l and t it has. --rare
compares releases of ``anonymize`` by a sensitive column of two values: one that has nothing to do
with the quasi-identifiers and is rare to a given share, one that only older persons have, and
income. 'k / share' is the loss at the k that is the mean size of classes with one rare row each,
without l: no more classes are possible with l = 2.
"""

import sys
import time
from pathlib import Path

import duckdb

import anon_sql
from anon_sql import datasets

ROWS = 30_162
QUASI = [
    *("age", "workclass", "education_num", "marital_status"),
    *("occupation", "race", "sex", "native_country"),
]
ADULT = Path(__file__).resolve().parents[2] / "shared" / "data" / "adult.parquet"
METHODS = ["anonymize", "dop", "mondrian", "top_down", "rayden"]
CASES = {  # sensitive column, what is asked
    "income, k": ("income", ""),
    "income, l = 2": ("income", "l := 2"),
    "income, l = 2, t = .2": ("income", "l := 2, t := 0.2"),
    "occupation, k": ("occupation", ""),
    "occupation, l = 3, t = .2": ("occupation", "l := 3, t := 0.2"),
}
EFFORTS = {"fast": "'fast'", "good": "'good'", "best": "'best', rounds := 6"}
RARE = {
    **{f"{share} %": f"hash(rid) % 100 < {share}" for share in (1, 6, 10, 24)},
    "older persons": "age >= 55 AND hash(rid) % 100 < 40",
    "income": "income = '>50K'",
}
LIMITS = {"l = 2": "l := 2", "t = .1": "t := 0.1", "t = .2": "t := 0.2"}


def load(con: duckdb.DuckDBPyConnection) -> None:
    columns = ", ".join([*QUASI, "income"])
    if ADULT.is_file():
        complete = "workclass IS NOT NULL AND occupation IS NOT NULL AND native_country IS NOT NULL"
        con.execute(
            f"CREATE TABLE adult AS SELECT {columns} FROM '{ADULT}' "
            f"WHERE split = 'train' AND {complete}"
        )
    else:
        datasets.adult(con, ROWS, table="made", roles=False)
        con.execute(f"CREATE TABLE adult AS SELECT {columns} FROM made")


def measure(con: duckdb.DuckDBPyConnection, method: str, k: int, column: str, asked: str) -> str:
    quasi = [name for name in QUASI if name != column]
    kept = [] if column == "income" else ["income"]
    started = time.perf_counter()
    con.execute(
        f"CREATE OR REPLACE TABLE released AS FROM {method}('adult', k := {k}, quasi := {quasi}, "
        f"sensitive := '{column}', keep := {kept}{', ' + asked if asked else ''})"
    )
    seconds = time.perf_counter() - started
    gcp, *has = con.sql(
        f"SELECT gcp('adult', 'released', quasi := {quasi}), "
        f"k_anonymity('adult', 'released', quasi := {quasi}), "
        f"l_diversity('adult', 'released', '{column}', quasi := {quasi}), "
        f"t_closeness('adult', 'released', '{column}', quasi := {quasi})"
    ).fetchall()[0]
    return f"{gcp:8.4f} {has[0]:5d} {has[1]:4.0f} {has[2]:7.4f} {seconds:8.2f}"


def loss(con: duckdb.DuckDBPyConnection, k: int, effort: str, asked: str) -> str:
    started = time.perf_counter()
    con.execute(
        f"CREATE OR REPLACE TABLE released AS FROM anonymize('flagged', k := {k}, quasi := {QUASI}, "
        f"sensitive := 'rare', effort := {effort}{', ' + asked if asked else ''})"
    )
    seconds = time.perf_counter() - started
    gcp = con.sql(f"SELECT gcp('flagged', 'released', quasi := {QUASI})").fetchall()[0][0]
    return f"{gcp:8.4f}{seconds:7.1f}"


def rare(con: duckdb.DuckDBPyConnection, k: int) -> None:
    """Print GCP and seconds by share of the rare value, effort and what is asked."""
    heads = ["k", "k / share", *LIMITS]
    print(f"{'':28}" + "".join(f"{head:>15}" for head in heads))
    for name, test in RARE.items():
        con.execute(
            f"CREATE OR REPLACE TABLE flagged AS SELECT {', '.join(QUASI)}, "
            f"CASE WHEN {test} THEN 'yes' ELSE 'no' END AS rare "
            "FROM (SELECT *, row_number() OVER () AS rid FROM adult)"
        )
        share = con.sql("SELECT avg((rare = 'yes')::INTEGER) FROM flagged").fetchall()[0][0]
        for effort, given in EFFORTS.items():
            cells = [loss(con, k, given, ""), loss(con, max(k, round(1 / share)), given, "")]
            cells += [loss(con, k, given, asked) for asked in LIMITS.values()]
            print(f"{name:14}{share:6.1%}  {effort:6}" + "".join(cells), flush=True)


def main() -> None:
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    k = numbers[0] if numbers else 10
    con = anon_sql.connect()
    con.execute("SET enable_progress_bar = false")
    load(con)
    if "--rare" in sys.argv:
        rare(con, k)
        return
    known = {name for (name,) in con.sql("SELECT name FROM anon_methods()").fetchall()}
    print(f"{'':28}{'method':12}{'GCP':>8} {'k':>5} {'l':>4} {'t':>7} {'seconds':>8}")
    for case, (column, asked) in CASES.items():
        for method in METHODS:
            if method in known:
                print(f"{case:28}{method:12}{measure(con, method, k, column, asked)}", flush=True)


if __name__ == "__main__":
    main()
