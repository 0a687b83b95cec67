"""The experiments of DOP (k-anonymity by density and least loss), beside what the paper prints.

python examples/papers/dop.py DATA, the folder of bank, heart_cleveland and student_por.
"""

import time
from collections.abc import Sequence
from typing import NamedTuple

import asked
import duckdb
import measured
from measured import Method
from page import Claim, Page, verdict

from anon_sql.install import literal

MONDRIAN, DOP = "Mondrian, widest column", "DOP"
METHODS = [
    Method(MONDRIAN, "mondrian", columns="widest"),
    Method("Mondrian", "mondrian"),
    Method(DOP, "dop"),
    Method("DOP, least NCP", "dop", loss="ncp"),
    Method("anonymize", "anonymize"),
]
NAMES = [method.name for method in METHODS]
ASKED = [(1, 1), (2, 2), (5, 2), (10, 2)]  # k and l


class Data(NamedTuple):
    """A table of the paper, and what table II prints of it for Mondrian and for DOP."""

    name: str
    file: str
    columns: dict[str, str]
    sensitive: str
    mondrian: tuple[float, ...]
    dop: tuple[float, ...]


def plain(*names: str) -> dict[str, str]:
    """Columns as they are in the file."""
    return {name: name for name in names}


TABLE_2 = [
    Data(
        "Bank",
        "bank",
        plain("age", "job", "marital", "education", "balance"),
        "y",
        (0.2054, 0.4572, 0.3959, 0.4477),
        (0.0000, 0.3659, 0.2790, 0.3744),
    ),
    Data(
        "Heart",
        "heart_cleveland",
        {"cp": "cp::VARCHAR AS cp", **plain("trestbps", "chol")},  # a code, so text
        "target",
        (0.0308, 0.2488, 0.3250, 0.4193),
        (0.0000, 0.1683, 0.2718, 0.3652),
    ),
    Data(
        "Student",
        "student_por",
        plain("age", "Medu", "Fedu", "traveltime", "studytime"),
        "G3",
        (0.2115, 0.2348, 0.2834, 0.3496),
        (0.0000, 0.0416, 0.1226, 0.2075),
    ),
]


def run(con: duckdb.DuckDBPyConnection, data: Data) -> None:
    """Each method at each k and l, into ``lost``, and what DOP found, into ``found``."""
    qids = measured.columns(list(data.columns))
    for at, (k, diverse) in enumerate(ASKED):
        arguments = f"l := {diverse}, sensitive := {literal(data.sensitive)}, {qids}"
        for method in METHODS:
            call = method.call(data.file, k, 1, arguments)
            con.execute(f"CREATE OR REPLACE TABLE released AS FROM {call}")
            con.execute(
                f"INSERT INTO lost SELECT ?, ?, {at}, {k}, "
                f"gcp({literal(data.file)}, 'released', ncp := 'dop', {qids})",
                [data.name, method.name],
            )
        con.execute(
            f"INSERT INTO found SELECT ?, {k}, {diverse}, eps, clusters, noise, joined, splits, "
            f"classes FROM dop_stats({literal(data.file)}, k := {k}, {arguments})",
            [data.name],
        )


def losses(con, data: Data) -> dict[str, list[float]]:
    """Name → NCP at each k and l."""
    return dict(
        con.execute(
            "SELECT name, list(ncp ORDER BY nth) FROM lost WHERE data = ? GROUP BY ALL", [data.name]
        ).fetchall()
    )


def fallen(mine: Sequence[float], theirs: Sequence[float]) -> list[str]:
    """By how many per cent figures differ from others."""
    return [f"{100 * (a / b - 1):+.1f}" for a, b in zip(mine, theirs, strict=True)]


def claims(con) -> list[Claim]:
    made = []
    for data in TABLE_2:
        ncp = losses(con, data)
        for rival in NAMES[:2]:
            held = sum(a < b for a, b in zip(ncp[DOP][1:], ncp[rival][1:], strict=True))
            falls = fallen(ncp[DOP][1:], ncp[rival][1:])
            printed = fallen(data.dop[1:], data.mondrian[1:])
            made.append(
                Claim(
                    f"{data.name}: DOP loses less than {rival}",
                    f"{', '.join(printed)} %",
                    f"{', '.join(falls)} %",
                    verdict(held, len(falls)),
                )
            )
    for name, at in ((MONDRIAN, "mondrian"), (DOP, "dop")):
        pairs = [
            (printed, mine)
            for data in TABLE_2
            for printed, mine in zip(getattr(data, at), losses(con, data)[name], strict=True)
        ]
        near = sum(abs(printed - mine) < 0.0105 for printed, mine in pairs)
        made.append(
            Claim(
                f"the figures of {name} themselves",
                "table II",
                f"{near} of {len(pairs)} are within .010",
                verdict(near, len(pairs)),
            )
        )
    return made


def main() -> None:
    given = asked.read("The experiments of DOP.", [])
    began, con = time.monotonic(), measured.connect()
    con.execute(
        "CREATE TABLE lost (data VARCHAR, name VARCHAR, nth INTEGER, k INTEGER, ncp DOUBLE); "
        "CREATE TABLE found (data VARCHAR, k INTEGER, l INTEGER, eps DOUBLE, clusters INTEGER, "
        "noise INTEGER, joined INTEGER, splits INTEGER, classes INTEGER)"
    )
    for data in TABLE_2:
        con.execute(
            f"CREATE TABLE {data.file} AS "
            f"SELECT {', '.join(data.columns.values())}, {data.sensitive} "
            f"FROM {literal(f'{given.data}/{data.file}.parquet')} "
            f"LIMIT {'NULL' if given.rows is None else given.rows}"
        )
        run(con, data)
    page = Page(given.into, "dop", "DOP: density, then the cut of least loss")
    page.told("setting")
    page.claims(claims(con))
    page.heading("What holds, what does not, and why")
    page.told("reading")
    page.heading("Table II: NCP, printed → measured")
    rows = []
    for data in TABLE_2:
        ncp = losses(con, data)
        for name in NAMES:
            printed = {MONDRIAN: data.mondrian, DOP: data.dop}.get(name, (None,) * len(ASKED))
            cells = [
                f"{mine:.4f}" if theirs is None else f"{theirs:.4f} → {mine:.4f}"
                for theirs, mine in zip(printed, ncp[name], strict=True)
            ]
            rows.append([data.name, name, *cells])
    page.rows(["data", "method", *map(str, ASKED)], rows)
    for figure, data in zip((3, 4, 5), TABLE_2, strict=True):
        ks = [str(pair) for pair in ASKED]
        printed = {"Mondrian, printed": data.mondrian, "DOP, printed": data.dop}
        series = {
            name: list(zip(ks, values, strict=True))
            for name, values in {**printed, **losses(con, data)}.items()
        }
        page.chart(data.name.lower(), f"Figure {figure}: {data.name}", "(k, l)", "NCP", series)
    page.heading("What DOP found")
    page.table(con.sql("FROM found"))
    page.text(
        f"Made by `examples/papers/dop.py` in {time.monotonic() - began:.0f} s; nothing is drawn, "
        "so there is one figure a cell."
    )
    page.write()


if __name__ == "__main__":
    main()
