"""The experiments of DOP (k-anonymity by density and least loss), with the printed figures.

python examples/papers/dop.py DATA, the folder of bank, bank_full, heart_cleveland and
student_por.
"""

from typing import NamedTuple

import asked
import duckdb
import measured
import one_column
import released
from page import Claim, Page
from released import Columns, Method
from verdicts import lower

from anon_sql.core.names import literal

ONE, MONDRIAN, DOP = "Mondrian, one column", "Mondrian", "DOP"
METHODS = [
    Method("Mondrian, widest column", "mondrian", columns="widest"),
    Method(MONDRIAN, "mondrian"),
    Method(DOP, "dop"),
    Method("DOP, least NCP", "dop", loss="ncp"),
    Method("anonymize", "anonymize"),
]
NAMES = [ONE, *(method.name for method in METHODS)]
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
        figures = {ONE: self.mondrian, DOP: self.dop}.get(name, ())
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


def run(con: duckdb.DuckDBPyConnection, given) -> None:
    """Measure each method into ``lost``, each rule into ``ruled``, clusters into ``found``."""
    con.execute(
        "CREATE TABLE lost (data VARCHAR, name VARCHAR, k INTEGER, ncp DOUBLE); "
        "CREATE TABLE ruled (data VARCHAR, width VARCHAR, text VARCHAR, k INTEGER, ncp DOUBLE); "
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
        for k in given.ks:
            run_methods(con, data, k)
            run_rules(con, data, k)


def run_methods(con, data: Data, k: int) -> None:
    columns = Columns(list(data.columns))
    more = f", l := {DIVERSE[k]}, sensitive := {literal(data.sensitive)}"
    for method in METHODS:
        method.release(con, data.file, k, 1, columns, more)
        con.execute(f"INSERT INTO lost SELECT ?, ?, {k}, {ncp(data)}", [data.name, method.name])
    con.execute(
        f"INSERT INTO found SELECT ?, {k}, {DIVERSE[k]}, eps, clusters, noise, joined, splits, "
        f"classes FROM dop_stats({literal(data.file)}, k := {k}, {columns}{more})",
        [data.name],
    )


def run_rules(con, data: Data, k: int) -> None:
    *columns, sensitive = released.arrays(con, data.file, [*data.columns, data.sensitive])
    for rule in one_column.RULES:
        classes = one_column.partition(columns, sensitive, k, DIVERSE[k], rule)
        released.classed(con, data.file, classes)
        con.execute(
            "CREATE OR REPLACE TABLE released AS FROM generalize("
            f"'classed', k := {k}, exclude := ['*'], {Columns(list(data.columns))})"
        )
        con.execute(f"INSERT INTO ruled SELECT ?, ?, ?, {k}, {ncp(data)}", [data.name, *rule])


def ncp(data: Data) -> str:
    """Return the NCP of the table ``released`` as SQL."""
    columns = Columns(list(data.columns))
    return f"gcp({literal(data.file)}, 'released', ncp := 'dop', {columns})"


def ruled(con, data: Data) -> dict[str, dict[int, float]]:
    """Return one-column rule → k → NCP."""
    return measured.grouped(
        con.execute(
            "SELECT concat(width, ', ', text), k, ncp FROM ruled WHERE data = ? ORDER BY k, rowid",
            [data.name],
        ).fetchall()
    )


def gap(data: Data, ncp: dict[int, float]) -> float:
    """Return the mean distance of figures from those printed of Mondrian."""
    printed = data.printed(ONE)
    return sum(abs(at - printed[k]) for k, at in ncp.items()) / len(ncp)


def losses(con, data: Data) -> dict[str, dict[int, float]]:
    """Return name → k → NCP; the one-column rule is the one nearest to the printed figures."""
    rules = ruled(con, data)
    nearest = min(rules, key=lambda rule: round(gap(data, rules[rule]), 6))
    found = con.execute(
        "SELECT name, k, ncp FROM lost WHERE data = ? ORDER BY k, rowid", [data.name]
    ).fetchall()
    return {ONE: rules[nearest], **measured.grouped(found)}


def claims(con, ks: list[int]) -> list[Claim]:
    """Drop k = 1, where every row can be a class of its own."""
    made = []
    more = [k for k in ks if k > 1]
    for data in TABLE_2:
        ncp = {name: {k: at[k] for k in more} for name, at in losses(con, data).items()}
        theirs, own = data.printed(ONE), data.printed(DOP)
        printed = [100 * (own[k] / theirs[k] - 1) for k in more]
        made.append(
            Claim(
                f"{data.name}: DOP “substantially lower NCP scores in all test scenarios”",
                ", ".join(f"{change:+.1f}" for change in printed) + " %",
                lower(ncp[DOP], ncp[ONE], printed),
                lower(ncp[DOP], ncp[MONDRIAN], printed),
                headline=True,
            )
        )
    return made


def write_table(con, page: Page, ks: list[int]) -> None:
    page.heading("Table II: NCP, printed → measured")
    rows = []
    for data in TABLE_2:
        for name, ncp in losses(con, data).items():
            printed = {k: f"{theirs:.4f} → " for k, theirs in data.printed(name).items()}
            cells = (printed.get(k, "") + f"{ncp[k]:.4f}" for k in ks)
            rows.append([data.name, name, *cells])
    page.rows(["data", "method", *(str((k, DIVERSE[k])) for k in ks)], rows)
    for name in (ONE, DOP):
        gaps = [
            abs(losses(con, data)[name][k] - data.printed(name)[k])
            for data in TABLE_2
            for k in ks
            if k > 1
        ]
        close = sum(at < 0.0105 for at in gaps)
        page.text(
            f"{name}: {close} of {len(gaps)} figures with k > 1 are within .010 of the printed "
            f"ones, and the farthest is {max(gaps):.3f} off."
        )


def write_rules(con, page: Page, ks: list[int]) -> None:
    page.heading("How the one-column rule was recognised")
    page.template("rules")
    rows = []
    for data in TABLE_2:
        rows.append([data.name, "printed", *(f"{data.printed(ONE)[k]:.4f}" for k in ks), "–"])
        for rule, ncp in ruled(con, data).items():
            cells = (f"{ncp[k]:.4f}" for k in ks)
            rows.append([data.name, rule, *cells, f"{gap(data, ncp):.4f}"])
    page.rows(["data", "rule", *(str((k, DIVERSE[k])) for k in ks), "gap"], rows)


def write(con, given) -> None:
    page = Page(given.into, "dop", "DOP: dense clusters and cuts of least loss")
    page.template("setting")
    page.claims(claims(con, given.ks))
    page.heading("Findings")
    gaps = {data.name: gap(data, losses(con, data)[ONE]) for data in TABLE_2}
    page.template(
        "findings", heart_gap=gaps["Heart"], bank_gap=gaps["Bank"], full_gap=gaps["Bank, full"]
    )
    write_table(con, page, given.ks)
    for figure, data in zip((3, 3, 4, 5), TABLE_2, strict=True):
        drawn = {
            "Mondrian, printed": data.printed(ONE),
            "DOP, printed": data.printed(DOP),
            **losses(con, data),
        }
        series = {
            name: [(str((k, DIVERSE[k])), points[k]) for k in given.ks]
            for name, points in drawn.items()
        }
        name = data.name.lower().replace(", ", "_")
        page.chart(name, f"Figure {figure}: {data.name}", "(k, l)", "NCP", series)
    write_rules(con, page, given.ks)
    page.heading("Clusters and classes of DOP")
    page.table(con.sql("FROM found"))
    page.write()


if __name__ == "__main__":
    given = asked.read("The experiments of DOP.", list(DIVERSE))
    write(measured.once(given, run), given)
