"""The experiments of SDkA (synthetic records and k-means), with the printed figures.

python examples/papers/sdka.py DATA, the folder of adult and diabetes; needs anon-sql[ml], and
anon-sql[ctgan] for --generator ctgan.
"""

import time
from typing import NamedTuple

import asked
import attacked
import learned
import measured
from attacked import PLAIN, SDKA, Printed
from measured import Method
from page import Page

from anon_sql.hosts.duckdb.install import literal


class Data(NamedTuple):
    """A table, its number of seeds (k-means is quadratic in the rows), and printed figures."""

    name: str
    columns: list[str]
    sensitive: str
    seeds: int
    printed: Printed
    accuracy: str
    deviations: tuple[float, float]  # of the forest's accuracy, SDkA and k-anonymity


DATA = [
    Data(
        "Adult",
        [
            *("age", "workclass", "education_num", "marital_status"),
            *("occupation", "race", "sex", "native_country"),
        ],
        "income",
        5,
        Printed((8.8, 11.98, 17.70, 21.86), (164.17, 327.83)),
        "+9.67 % (than ImSKA)",
        (1.21, 3.41),
    ),
    Data(
        "Diabetes",
        ["race", "gender", "age", "admission_type_id", "time_in_hospital", "num_medications"],
        "readmitted",
        3,
        Printed((9.21, 38.68, 7.05, 11.82), (1377.77, 1990.17)),
        "+11.80 % (than ImSKA)",
        (2.17, 2.47),
    ),
]


def methods(generator: str, epochs: int) -> list[Method]:
    made = {"generator": generator, "epochs": epochs}
    return [
        Method(SDKA, "sdka", drawn=True, **made),
        Method(PLAIN, "sdka", drawn=True, target_ratio=1e9, l=1),
        Method("anonymize, l = 2", "anonymize", l=2),
    ]


def load(con, data: Data, folder, rows: int | None) -> str:
    """Create the table of a paper under its name in lower case; return the name."""
    table = data.name.lower()
    complete = " AND ".join(f"{name} IS NOT NULL" for name in data.columns)
    train = "split = 'train' AND " + complete if table == "adult" else "true"
    con.execute(
        f"CREATE TABLE {table} AS SELECT {', '.join(data.columns)}, {data.sensitive} "
        f"FROM {literal(f'{folder}/{table}.parquet')} WHERE {train} "
        f"LIMIT {'NULL' if rows is None else rows}"
    )
    return table


def run(con, data: Data, table: str, given, seed: int) -> None:
    """Run the attacks on every release of a seed; for the first seed, measure loss and accuracy."""
    roles = f"{measured.columns(data.columns)}, sensitive := {literal(data.sensitive)}"
    taught = given.ks[::2]
    lossy = {taught[len(taught) // 2], taught[-1]}  # a few: the loss takes a release more
    for method in methods(given.generator, int(given.epochs)):
        if seed > 1 and not method.drawn:
            continue
        for k in given.ks:
            call = method.call(table, k, seed, roles)
            con.execute(f"CREATE OR REPLACE TABLE released AS FROM {call}")
            attacked.attack(con, data.name, method.name, seed, k, table, roles)
            if seed == 1 and k in taught:
                learned.learn(con, data, method, table, k, k == taught[0])
            if seed == 1 and k in lossy:
                learned.lose(con, data, method, table, k, roles)


def main() -> None:
    given = asked.read(
        "The experiments of SDkA.", [*range(10, 101, 10)], generator="bootstrap", epochs="10"
    )
    began, con = time.monotonic(), measured.connect()
    prepare(con)
    for data in DATA:
        table = load(con, data, given.data, given.rows)
        for seed in range(1, min(given.seeds, data.seeds) + 1):
            run(con, data, table, given, seed)
    write(con, given, time.monotonic() - began)


def prepare(con) -> None:
    attacked.prepare(con)
    learned.prepare(con)


def write(con, given, seconds: float) -> None:
    page = Page(given.into, "sdka", "SDkA: synthetic records, then k-means")
    counts = {
        data.name.lower(): con.execute(f"SELECT count(*) FROM {data.name}").fetchall()[0][0]
        for data in DATA
    }
    seeds = {f"{data.name.lower()}_seeds": min(given.seeds, data.seeds) for data in DATA}
    page.template("setting", generator=given.generator, **counts, **seeds)
    claims = []
    for data in DATA:
        claims += attacked.claims(con, data.name, data.printed) + learned.claims(con, data)
    page.claims(claims)
    page.heading("Findings")
    page.template("findings")
    names = [method.name for method in methods(given.generator, int(given.epochs))]
    for data in DATA:
        attacked.write(con, page, data.name, names)
        learned.write(con, page, data, names)
    rows = "" if given.rows is None else f" --rows {given.rows}"
    page.text(
        f"Made by `examples/papers/sdka.py --generator {given.generator} --epochs {given.epochs}"
        f"{rows}` in {seconds:.0f} s, on two cores that other programs used too."
    )
    page.write()


if __name__ == "__main__":
    main()
