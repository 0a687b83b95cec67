"""The experiments of SDkA (synthetic records and k-means), beside what the paper prints.

python examples/papers/sdka.py DATA, the folder of adult and diabetes; needs anon-sql[ml], and
anon-sql[ctgan] for --generator ctgan.
"""

import time
from typing import NamedTuple

import asked
import measured
from measured import Method
from page import Claim, Page, verdict

from anon_sql.install import literal

SDKA, PLAIN = "SDkA", "k-anonymity"
SAMPLE = 5000  # persons that are attacked, where there are more
ATTACKS = ["homogeneity", "skewness", "linking", "background knowledge"]
FIGURES = {  # by attack: a figure per release, and what it counts
    "homogeneity": ("attack_homogeneity", "exposed_classes", ""),
    "skewness": ("attack_skewness", "exposed_classes", ", threshold := 0.8"),
    "linking": ("attack_linking", "linked_share", f", sample := {SAMPLE}"),
    "background knowledge": ("attack_background", "guessed_share", f", sample := {SAMPLE}"),
}


class Data(NamedTuple):
    """A table of the paper, and the mean improvement in each attack that it prints, in per cent."""

    name: str
    columns: list[str]
    sensitive: str
    printed: tuple[float, ...]


DATA = [
    Data(
        "Adult",
        [
            *("age", "workclass", "education_num", "marital_status"),
            *("occupation", "race", "sex", "native_country"),
        ],
        "income",
        (8.8, 11.98, 17.70, 21.86),
    ),
    Data(
        "Diabetes",
        ["race", "gender", "age", "admission_type_id", "time_in_hospital", "num_medications"],
        "readmitted",
        (9.21, 38.68, 7.05, 11.82),
    ),
]


def methods(generator: str, epochs: int) -> list[Method]:
    made = {"generator": generator, "epochs": epochs}
    return [
        Method(SDKA, "sdka", **made),
        Method(PLAIN, "sdka", target_ratio=1e9, l=1),
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


def run(con, data: Data, table: str, given, forests: set[int]) -> None:
    """The attacks on each release, into ``attacked``; what a forest learns, into ``learned``."""
    roles = f"{measured.columns(data.columns)}, sensitive := {literal(data.sensitive)}"
    for k in given.ks:
        for method in methods(given.generator, int(given.epochs)):
            call = method.call(table, k, 42, roles)
            con.execute(f"CREATE OR REPLACE TABLE released AS FROM {call}")
            for attack, (function, figure, more) in FIGURES.items():
                con.execute(
                    f"INSERT INTO attacked SELECT ?, ?, {k}, ?, {figure} "
                    f"FROM {function}({literal(table)}, 'released', {roles}{more})",
                    [data.name, method.name, attack],
                )
            con.execute(
                "INSERT INTO added SELECT ?, ?, ?, (SELECT count(*) FROM released) - "
                f"(SELECT count(*) FROM {table})",
                [data.name, method.name, k],
            )
            if k in forests:
                qids = measured.columns(data.columns)
                con.execute(
                    f"INSERT INTO learned SELECT ?, ?, {k}, data, accuracy FROM classification("
                    f"{literal(table)}, 'released', target := {literal(data.sensitive)}, {qids})",
                    [data.name, method.name],
                )


def improved(con, data: Data) -> list[float | None]:
    """By how many per cent SDkA's figure is below that of k-anonymity, mean over k, by attack."""
    found = dict(
        con.execute(
            "SELECT attack, avg(100 * (plain.figure - own.figure) / nullif(plain.figure, 0)) "
            "FROM attacked own JOIN attacked plain USING (data, k, attack) "
            "WHERE data = ? AND own.name = ? AND plain.name = ? GROUP BY ALL",
            [data.name, SDKA, PLAIN],
        ).fetchall()
    )
    return [found.get(attack) for attack in ATTACKS]


def claims(con, tables: list[Data]) -> list[Claim]:
    made = []
    for data in tables:
        for attack, printed, mine in zip(ATTACKS, data.printed, improved(con, data), strict=True):
            made.append(
                Claim(
                    f"{data.name}: better than k-anonymity against {attack}",
                    f"{printed} %",
                    "–" if mine is None else f"{mine:.1f} %",
                    verdict(int(mine is not None and mine > 0), 1),
                )
            )
        pairs = con.execute(
            "SELECT own.accuracy, plain.accuracy FROM learned own JOIN learned plain "
            "USING (data, k, kind) WHERE data = ? AND own.name = ? AND plain.name = ? "
            "AND kind = 'released'",
            [data.name, SDKA, PLAIN],
        ).fetchall()
        if pairs:
            gains = ", ".join(f"{100 * (own / plain - 1):+.1f} %" for own, plain in pairs)
            held = sum(own > plain for own, plain in pairs)
            rule = f"{data.name}: a forest learns more than from k-anonymity"
            made.append(Claim(rule, "above ImSKA and k-A", gains, verdict(held, len(pairs))))
    return made


def main() -> None:
    given = asked.read(
        "The experiments of SDkA.", [10, 20, 30, 40, 50], generator="bootstrap", epochs="10"
    )
    began, con = time.monotonic(), measured.connect()
    con.execute(
        "CREATE TABLE attacked "
        "(data VARCHAR, name VARCHAR, k INTEGER, attack VARCHAR, figure DOUBLE); "
        "CREATE TABLE added (data VARCHAR, name VARCHAR, k INTEGER, rows INTEGER); "
        "CREATE TABLE learned "
        "(data VARCHAR, name VARCHAR, k INTEGER, kind VARCHAR, accuracy DOUBLE)"
    )
    forests = {given.ks[0], given.ks[-1]}
    for data in DATA:
        run(con, data, load(con, data, given.data, given.rows), given, forests)
    page = Page(given.into, "sdka", "SDkA: synthetic records, then k-means")
    page.told("setting", generator=given.generator)
    page.claims(claims(con, DATA))
    page.heading("What holds, what does not, and why")
    page.told("reading")
    names = [method.name for method in methods(given.generator, int(given.epochs))]
    for data in DATA:
        for attack in ATTACKS:
            page.heading(f"{data.name}: {attack}, {FIGURES[attack][1].replace('_', ' ')}")
            cells = (
                "SELECT k, name, CASE WHEN figure = floor(figure) THEN "
                "figure::INTEGER::VARCHAR ELSE format('{:.4f}', figure) END AS cell FROM attacked "
                f"WHERE data = {literal(data.name)} AND attack = {literal(attack)}"
            )
            page.table(measured.pivoted(con, cells, "k", names))
    page.heading("Accuracy of a random forest")
    page.table(con.sql("FROM learned"))
    page.heading("Rows added")
    page.table(con.sql(f"FROM added WHERE name = {literal(SDKA)}"))
    for data in DATA:
        series = {
            name: con.execute(
                "SELECT k, figure FROM attacked WHERE data = ? AND name = ? "
                "AND attack = 'homogeneity' ORDER BY k",
                [data.name, name],
            ).fetchall()
            for name in names
        }
        title = f"{data.name}: classes with one sensitive value"
        page.chart(data.name.lower(), title, "k", "classes", series)
    page.text(
        f"Made by `examples/papers/sdka.py --generator {given.generator} "
        f"--epochs {given.epochs}` on {given.rows or 'all'} rows of each table in "
        f"{time.monotonic() - began:.0f} s, with one seed."
    )
    page.write()


if __name__ == "__main__":
    main()
