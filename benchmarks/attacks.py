"""The four attacks and a random forest on SDkA, on k-means alone and on methods that add nothing.

    python benchmarks/attacks.py [generator] [epochs] [adult | diabetes …]

Reads ../shared/data, where the tables of the paper are. ``k-means`` is sdka without records and
without l, the k-anonymity that Majeed and Hwang (2025) compare with. A row a release: its share of
exposed classes (homogeneity, skewness above .8), of people who are re-identified and disclosed, and
guessed by two known quasi-identifiers; accuracy of a random forest on the raw table and on the
release; seconds of wall time.
"""

import sys
import time
from pathlib import Path

import anon_sql
from anon_sql import datasets

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
COMPLETE = (
    "split = 'train' AND workclass IS NOT NULL AND occupation IS NOT NULL "
    "AND native_country IS NOT NULL"
)
TABLES = {
    "adult": (f"'{DATA}/adult.parquet' WHERE {COMPLETE}", datasets.QUASI, "income"),
    "diabetes": (
        f"'{DATA}/diabetes.parquet'",
        ["race", "gender", "age", "admission_type_id", "time_in_hospital", "num_medications"],
        "readmitted",
    ),
}
PLAIN = ["rayden", "anonymize", "mondrian"]
SAMPLE = 5000  # persons that are attacked


def methods(generator: str, epochs: int) -> dict[str, str]:
    """What to call, by what it is named here."""
    found = {
        f"sdka {generator}": f"sdka(%s, generator := '{generator}', epochs := {epochs})",
        "k-means": "sdka(%s, target_ratio := 1e9, l := 1)",
    }
    for name in PLAIN:
        found |= {f"{name} l=1": f"{name}(%s)", f"{name} l=2": f"{name}(%s, l := 2)"}
    return found


def measure(name: str, call: str, k: int, target: str) -> str:
    con = connections[target]
    started = time.perf_counter()
    given = f"'t', k := {k}"
    con.execute(f"CREATE OR REPLACE TABLE r AS FROM {call % given}")
    seconds = time.perf_counter() - started
    attacks = [
        con.sql(text).fetchall()[0][0]
        for text in (
            "SELECT class_share FROM attack_homogeneity('t', 'r')",
            "SELECT class_share FROM attack_skewness('t', 'r', threshold := 0.8)",
            f"SELECT reidentified_share FROM attack_linking('t', 'r', sample := {SAMPLE})",
            f"SELECT disclosed_share FROM attack_linking('t', 'r', sample := {SAMPLE})",
            f"SELECT guessed_share FROM attack_background('t', 'r', sample := {SAMPLE})",
        )
    ]
    learned = f"SELECT accuracy FROM classification('t', 'r', target := '{target}')"
    accuracy = [row[0] for row in con.sql(learned).fetchall()]
    return f"{name:16}{k:4}" + "".join(f"{x:12.4f}" for x in attacks + accuracy) + f"{seconds:9.1f}"


connections = {}


def main() -> None:
    generator = sys.argv[1] if len(sys.argv) > 1 else "bootstrap"
    epochs = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    for table in sys.argv[3:] or TABLES:
        source, quasi, target = TABLES[table]
        con = connections[target] = anon_sql.connect()
        con.execute(f"CREATE TABLE t AS SELECT {', '.join([*quasi, target])} FROM {source}")
        anon_sql.declare(con, "t", quasi=quasi, sensitive=[target])
        print(f"\n{table}, {con.sql('SELECT count(*) FROM t').fetchall()[0][0]:,} rows")
        heads = [
            "homogen.",
            "skewness",
            "re-ident.",
            "disclosed",
            "guessed",
            "raw acc.",
            "accuracy",
        ]
        print(f"{'':16}{'k':>4}" + "".join(f"{head:>12}" for head in heads) + f"{'seconds':>9}")
        for k in (10, 50):
            for name, call in methods(generator, epochs).items():
                print(measure(name, call, k, target), flush=True)


if __name__ == "__main__":
    main()
