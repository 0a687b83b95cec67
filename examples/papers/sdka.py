"""The experiments of SDkA (synthetic records and k-means), beside what the paper prints.

python examples/papers/sdka.py DATA, the folder of adult and diabetes; needs anon-sql[ml], and
anon-sql[ctgan] for --generator ctgan.
"""

import time
from typing import NamedTuple

import asked
import attacked
import measured
from attacked import PLAIN, SDKA, Printed
from measured import Method
from page import Claim, Page, verdict

from anon_sql.install import literal


class Data(NamedTuple):
    """A table, how many seeds it can have (k-means takes the square of its rows), and figures."""

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
TABLES = """
    CREATE TABLE learned (data VARCHAR, name VARCHAR, k INTEGER, accuracy DOUBLE, f_measure DOUBLE);
    CREATE TABLE lost (data VARCHAR, name VARCHAR, k INTEGER, rows INTEGER, gcp DOUBLE)
"""


def methods(generator: str, epochs: int) -> list[Method]:
    made = {"generator": generator, "epochs": epochs}
    return [
        Method(SDKA, "sdka", drawn=True, **made),
        Method(PLAIN, "sdka", drawn=True, target_ratio=1e9, l=1),
        Method("anonymize, l = 2", "anonymize", l=2),
    ]


def load(con, data: Data, folder, rows: int | None) -> str:
    """The table of a paper under its name, in small letters; the name."""
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
    """The attacks on every release of a seed; of the first, what is lost and what is learned."""
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
                learn(con, data, method, table, k, k == taught[0])
            if seed == 1 and k in lossy:
                lose(con, data, method, table, k, roles)


def learn(con, data: Data, method: Method, table: str, k: int, first: bool) -> None:
    """A forest's accuracy, into ``learned``; the raw table's once."""
    baseline = "raw" if first and method.name == SDKA else "none"
    con.execute(
        f"INSERT INTO learned SELECT ?, if(data = 'raw', 'raw table', ?), {k}, accuracy, "
        f"f_measure FROM classification({literal(table)}, 'released', "
        f"target := {literal(data.sensitive)}, baseline := '{baseline}', "
        f"{measured.columns(data.columns)})",
        [data.name, method.name],
    )


def lose(con, data: Data, method: Method, table: str, k: int, roles: str) -> None:
    """The information loss of the real rows, into ``lost``."""
    if method.function == "sdka":
        stats = Method(method.name, "sdka_stats", **method.options)
        loss = f"(SELECT gcp FROM {stats.call(table, k, 1, roles)})"
    else:
        loss = f"gcp({literal(table)}, 'released', {measured.columns(data.columns)})"
    con.execute(
        f"INSERT INTO lost SELECT ?, ?, {k}, (SELECT count(*) FROM released), {loss}",
        [data.name, method.name],
    )


def compared(con, data: Data, table: str, figure: str, of: str = "own > plain") -> tuple[int, int]:
    """At how many k a figure of SDkA stands in a relation to that of k-anonymity; of how many k."""
    held = con.execute(
        f"SELECT count_if({of}), count(*) FROM (SELECT o.{figure} AS own, p.{figure} AS plain "
        f"FROM {table} o JOIN {table} p USING (data, k) WHERE data = ? AND o.name = ? "
        "AND p.name = ?)",
        [data.name, SDKA, PLAIN],
    ).fetchall()[0]
    return held[0], held[1]


def gains(con, data: Data, table: str, figure: str) -> str:
    """By how many per cent SDkA's figure differs from k-anonymity's: mean and range over k."""
    return con.execute(
        f"SELECT format('{{:+.1f}} % ({{:+.1f}} to {{:+.1f}})', avg(d), min(d), max(d)) FROM "
        f"(SELECT 100 * (o.{figure} / p.{figure} - 1) AS d FROM {table} o JOIN {table} p "
        "USING (data, k) WHERE data = ? AND o.name = ? AND p.name = ?)",
        [data.name, SDKA, PLAIN],
    ).fetchall()[0][0]


def learned_claims(con, data: Data) -> list[Claim]:
    own, plain = (
        con.execute(
            "SELECT 100 * coalesce(stddev(accuracy), 0) FROM learned WHERE data = ? AND name = ?",
            [data.name, name],
        ).fetchall()[0][0]
        for name in (SDKA, PLAIN)
    )
    return [
        Claim(
            f"{data.name}: a forest is more accurate than from k-anonymity",
            data.accuracy,
            gains(con, data, "learned", "accuracy"),
            verdict(*compared(con, data, "learned", "accuracy")),
        ),
        Claim(
            f"{data.name}: its accuracy varies less over k than with k-anonymity",
            "{} against {}".format(*data.deviations),
            f"{own:.2f} against {plain:.2f} (standard deviation, points)",
            verdict(own < plain, 1),
        ),
        Claim(
            f"{data.name}: loses less information than k-anonymity",
            "lower ILoss",
            gains(con, data, "lost", "gcp"),
            verdict(*compared(con, data, "lost", "gcp", "own < plain")),
        ),
    ]


def write_learned(con, page: Page, data: Data, names: list[str]) -> None:
    page.heading(f"{data.name}: a random forest and the information lost")
    accuracy, f_measure = con.execute(
        "SELECT accuracy, f_measure FROM learned WHERE data = ? AND name = 'raw table'", [data.name]
    ).fetchall()[0]
    page.text(
        f"Accuracy, then F-measure of the rarest value; from the raw table they are {accuracy:.3f} "
        f"and {f_measure:.3f}."
    )
    for figure in ("accuracy", "f_measure"):
        cells = (
            f"SELECT k, name, format('{{:.3f}}', {figure}) AS cell FROM learned "
            f"WHERE data = {literal(data.name)}"
        )
        page.table(measured.pivoted(con, cells, "k", names))
    found = con.execute(
        "SELECT name, list((k, accuracy) ORDER BY k) FROM learned WHERE data = ? "
        "AND name <> 'raw table' GROUP BY ALL ORDER BY min(rowid)",
        [data.name],
    ).fetchall()
    title = f"{data.name}: accuracy of a random forest"
    page.chart(f"{data.name.lower()}_accuracy", title, "k", "accuracy", dict(found))
    page.text("Rows of the release, and GCP of the real ones:")
    page.table(con.sql(f"SELECT * EXCLUDE data FROM lost WHERE data = {literal(data.name)}"))


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
    con.execute(TABLES)
    attacked.prepare(con)


def write(con, given, seconds: float) -> None:
    page = Page(given.into, "sdka", "SDkA: synthetic records, then k-means")
    counts = {
        data.name.lower(): con.execute(f"SELECT count(*) FROM {data.name}").fetchall()[0][0]
        for data in DATA
    }
    seeds = {f"{data.name.lower()}_seeds": min(given.seeds, data.seeds) for data in DATA}
    page.told("setting", generator=given.generator, **counts, **seeds)
    claims = []
    for data in DATA:
        claims += attacked.claims(con, data.name, data.printed) + learned_claims(con, data)
    page.claims(claims)
    page.heading("What holds, what does not, and why")
    page.told("reading")
    names = [method.name for method in methods(given.generator, int(given.epochs))]
    for data in DATA:
        attacked.write(con, page, data.name, names)
        write_learned(con, page, data, names)
    rows = "" if given.rows is None else f" --rows {given.rows}"
    page.text(
        f"Made by `examples/papers/sdka.py --generator {given.generator} --epochs {given.epochs}"
        f"{rows}` in {seconds:.0f} s, on two cores that other programs used too."
    )
    page.write()


if __name__ == "__main__":
    main()
