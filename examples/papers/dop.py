"""The experiments of DOP (k-anonymity by density and least loss), with the printed figures.

python examples/papers/dop.py DATA, the folder of bank, bank_full, heart_cleveland and
student_por.
"""

import time
from typing import NamedTuple

import asked
import duckdb
import measured
from measured import Method
from page import Claim, Page, verdict

from anon_sql.hosts.duckdb.install import literal

MONDRIAN, DOP = "Mondrian, widest column", "DOP"
METHODS = [
    Method(MONDRIAN, "mondrian", columns="widest"),
    Method("Mondrian", "mondrian"),
    Method(DOP, "dop"),
    Method("DOP, least NCP", "dop", loss="ncp"),
    Method("anonymize", "anonymize"),
]
NAMES = [method.name for method in METHODS]
DIVERSE = {1: 1, 2: 2, 5: 2, 10: 2}  # l by k


class Data(NamedTuple):
    """A table of the paper, with the figures of table II for Mondrian and for DOP."""

    name: str
    file: str
    columns: dict[str, str]
    sensitive: str
    mondrian: tuple[float, ...]
    dop: tuple[float, ...]

    def printed(self, name: str) -> dict[int, float]:
        """Return k → NCP of a method in table II; empty for a method that is not in it."""
        figures = {MONDRIAN: self.mondrian, DOP: self.dop}.get(name, ())
        return dict(zip(DIVERSE, figures, strict=False))


def plain(*names: str) -> dict[str, str]:
    """Select columns as they are in the file."""
    return {name: name for name in names}


BANK = Data(
    "Bank",
    "bank",
    plain("age", "job", "marital", "education", "balance"),
    "y",
    (0.2054, 0.4572, 0.3959, 0.4477),
    (0.0000, 0.3659, 0.2790, 0.3744),
)
TABLE_2 = [
    BANK,
    BANK._replace(name="Bank, full", file="bank_full"),
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


def run(con: duckdb.DuckDBPyConnection, data: Data, ks: list[int]) -> None:
    """Measure each method at each k and its l into ``lost``, and DOP's clusters into ``found``."""
    qids = measured.columns(list(data.columns))
    for k in ks:
        arguments = f"l := {DIVERSE[k]}, sensitive := {literal(data.sensitive)}, {qids}"
        for method in METHODS:
            call = method.call(data.file, k, 1, arguments)
            con.execute(f"CREATE OR REPLACE TABLE released AS FROM {call}")
            con.execute(
                f"INSERT INTO lost SELECT ?, ?, {k}, "
                f"gcp({literal(data.file)}, 'released', ncp := 'dop', {qids})",
                [data.name, method.name],
            )
        con.execute(
            f"INSERT INTO found SELECT ?, {k}, {DIVERSE[k]}, eps, clusters, noise, joined, splits, "
            f"classes FROM dop_stats({literal(data.file)}, k := {k}, {arguments})",
            [data.name],
        )


def losses(con, data: Data) -> dict[str, dict[int, float]]:
    """Return name → k → NCP."""
    found: dict[str, dict[int, float]] = {}
    for name, k, ncp in con.execute(
        "SELECT name, k, ncp FROM lost WHERE data = ? ORDER BY k, rowid", [data.name]
    ).fetchall():
        found.setdefault(name, {})[k] = ncp
    return found


def fallen(mine: dict[int, float], theirs: dict[int, float], ks: list[int]) -> str:
    """Return by how many per cent figures differ from others, for each k."""
    return ", ".join(f"{100 * (mine[k] / theirs[k] - 1):+.1f}" for k in ks) + " %"


def claims(con, ks: list[int]) -> list[Claim]:
    """Drop k = 1, where every row can be a class of its own."""
    made = []
    more = [k for k in ks if k > 1]
    for data in TABLE_2:
        ncp = losses(con, data)
        for rival in NAMES[:2]:
            held = sum(ncp[DOP][k] < ncp[rival][k] for k in more)
            made.append(
                Claim(
                    f"{data.name}: DOP loses less than {rival}",
                    fallen(data.printed(DOP), data.printed(MONDRIAN), more),
                    fallen(ncp[DOP], ncp[rival], more),
                    verdict(held, len(more)),
                )
            )
    for name in (MONDRIAN, DOP):
        gaps = [
            abs(losses(con, data)[name][k] - data.printed(name)[k])
            for data in TABLE_2
            for k in more
        ]
        near = sum(gap < 0.0105 for gap in gaps)
        made.append(
            Claim(
                f"the figures of {name} themselves, k > 1",
                "table II",
                f"{near} of {len(gaps)} are within .010, the farthest is {max(gaps):.3f} off",
                verdict(near, len(gaps)),
            )
        )
    return made


def main() -> None:
    given = asked.read("The experiments of DOP.", list(DIVERSE))
    began, con = time.monotonic(), measured.connect()
    con.execute(
        "CREATE TABLE lost (data VARCHAR, name VARCHAR, k INTEGER, ncp DOUBLE); "
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
        run(con, data, given.ks)
    page = Page(given.into, "dop", "DOP: dense clusters and cuts of least loss")
    page.template("setting")
    page.claims(claims(con, given.ks))
    page.heading("Findings")
    page.template("findings")
    page.heading("Table II: NCP, printed → measured")
    heads = {k: str((k, DIVERSE[k])) for k in given.ks}
    rows = []
    for data in TABLE_2:
        ncp = losses(con, data)
        for name in NAMES:
            printed = data.printed(name)
            before = {k: f"{theirs:.4f} → " for k, theirs in printed.items()}
            rows.append(
                [data.name, name, *(before.get(k, "") + f"{ncp[name][k]:.4f}" for k in heads)]
            )
    page.rows(["data", "method", *heads.values()], rows)
    for figure, data in zip((3, 3, 4, 5), TABLE_2, strict=True):
        drawn = {
            "Mondrian, printed": data.printed(MONDRIAN),
            "DOP, printed": data.printed(DOP),
            **losses(con, data),
        }
        series = {
            name: [(heads[k], ncp) for k, ncp in points.items() if k in heads]
            for name, points in drawn.items()
        }
        name = data.name.lower().replace(", ", "_")
        page.chart(name, f"Figure {figure}: {data.name}", "(k, l)", "NCP", series)
    page.heading("Clusters and classes of DOP")
    page.table(con.sql("FROM found"))
    page.text(
        f"Made by `examples/papers/dop.py` in {time.monotonic() - began:.0f} s; the methods make "
        "no random choice, so a cell is one figure."
    )
    page.write()


if __name__ == "__main__":
    main()
