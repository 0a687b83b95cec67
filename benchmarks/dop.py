"""DOP's table II: NCP on the paper's three tables, beside ours, and seconds on Adult.

    python benchmarks/dop.py [folder of the tables]

NCP with (values - 1) / (values in the raw table - 1) in text, at the paper's (k, l). 'Mondrian,
printed' is plain Mondrian as such papers run it: the widest column alone, values up to the median
on one side, both sides legal or no cut at all, text by its code. All else is this project's.
The folder is ../shared/data unless another is named.
"""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np

import anon_sql

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data"
CELLS = [(1, 1), (2, 2), (5, 2), (10, 2)]
TABLES = {
    "bank": ("bank", ["age", "job", "marital", "education", "balance"], "y"),
    "heart": ("heart_cleveland", ["cp", "trestbps", "chol"], "target"),
    "student": ("student_por", ["age", "Medu", "Fedu", "traveltime", "studytime"], "G3"),
}
PAPER = {
    "bank": ([0.2054, 0.4572, 0.3959, 0.4477], [0.0000, 0.3659, 0.2790, 0.3744]),
    "heart": ([0.0308, 0.2488, 0.3250, 0.4193], [0.0000, 0.1683, 0.2718, 0.3652]),
    "student": ([0.2115, 0.2348, 0.2834, 0.3496], [0.0000, 0.0416, 0.1226, 0.2075]),
}
CALLS = {
    "mondrian, widest": "mondrian({}, columns := 'widest')",
    "mondrian, any": "mondrian({}, columns := 'any')",
    "dop, lil": "dop({})",
    "dop, ncp": "dop({}, loss := 'ncp')",
}
ADULT = [
    *("age", "workclass", "education_num", "marital_status"),
    *("occupation", "race", "sex", "native_country"),
]


def released(con: duckdb.DuckDBPyConnection, name: str, call: str, k: int, l: int) -> float:  # noqa: E741
    """NCP of one release."""
    _, quasi, sensitive = TABLES[name]
    given = f"'{name}', k := {k}, l := {l}, quasi := {quasi}, sensitive := ['{sensitive}']"
    con.execute(f"CREATE OR REPLACE TABLE released AS FROM {call.format(given)}")
    question = f"SELECT gcp('{name}', 'released', ncp := 'dop', quasi := {quasi})"
    return float(con.sql(question).fetchall()[0][0])


def printed(con: duckdb.DuckDBPyConnection, name: str, k: int, l: int) -> float:  # noqa: E741
    """NCP of plain Mondrian; text is measured by how many of its codes a class holds."""
    _, quasi, sensitive = TABLES[name]
    found = con.sql(f"SELECT {', '.join(quasi)}, {sensitive} FROM {name}").fetchnumpy()
    text = [found[column].dtype == object for column in quasi]
    coded = [np.unique(found[column], return_inverse=True)[1] for column in quasi]
    columns = np.column_stack(
        [coded[c] if text[c] else found[column] for c, column in enumerate(quasi)]
    ).astype(float)
    width = np.ptp(columns, axis=0)
    answers = found[sensitive]

    def leaves(rows: np.ndarray) -> Iterator[np.ndarray]:
        column = int(np.argmax(np.ptp(columns[rows], axis=0) / width))
        low = columns[rows, column] <= np.median(columns[rows, column])
        sides = [rows[low], rows[~low]]
        if all(len(side) >= k and len(np.unique(answers[side])) >= l for side in sides):
            for side in sides:
                yield from leaves(side)
        else:
            yield rows

    lost = 0.0
    for rows in leaves(np.arange(len(columns))):
        for c in range(len(quasi)):
            values = columns[rows, c]
            span = len(np.unique(values)) - 1 if text[c] else np.ptp(values)
            lost += len(rows) * span / width[c]
    return lost / columns.size


def seconds(con: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """CPU seconds of DOP on Adult's complete rows, k = 10, its kernels compiled."""
    complete = "workclass IS NOT NULL AND occupation IS NOT NULL AND native_country IS NOT NULL"
    con.execute(
        f"CREATE TABLE adult AS SELECT {', '.join(ADULT)} FROM '{folder}/adult.parquet' "
        f"WHERE split = 'train' AND {complete}"
    )
    for loss in ("lil", "ncp"):
        started = time.process_time()
        con.execute(
            "CREATE OR REPLACE TABLE released AS "
            f"FROM dop('adult', k := 10, quasi := {ADULT}, loss := '{loss}')"
        )
        spent = time.process_time() - started
        gcp = con.sql(f"SELECT gcp('adult', 'released', quasi := {ADULT})").fetchall()[0][0]
        print(f"Adult, k = 10, {loss}: GCP {gcp:.4f}, {spent:.1f} s of CPU")


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    con = anon_sql.connect()
    con.execute("SET enable_progress_bar = false")
    print(f"{'NCP at (k, l)':28}" + "".join(f"{cell!s:>10}" for cell in CELLS))
    for name, (file, quasi, sensitive) in TABLES.items():
        columns = [column if column != "cp" else "cp::VARCHAR AS cp" for column in quasi]
        con.execute(
            f"CREATE TABLE {name} AS SELECT {', '.join(columns)}, {sensitive} "
            f"FROM '{folder}/{file}.parquet'"
        )
        rows = dict(zip(("Mondrian, the paper", "DOP, the paper"), PAPER[name], strict=True))
        rows["Mondrian, printed"] = [printed(con, name, *cell) for cell in CELLS]
        rows |= {
            label: [released(con, name, call, *cell) for cell in CELLS]
            for label, call in CALLS.items()
        }
        for label, cells in rows.items():
            print(f"{name:8}{label:20}" + "".join(f"{cell:10.4f}" for cell in cells), flush=True)
    seconds(con, folder)


if __name__ == "__main__":
    main()
