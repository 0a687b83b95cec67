"""Accuracy of a random forest trained on SDkA's releases, and their information loss."""

import measured
from attacked import PLAIN, SDKA
from measured import Method
from page import Claim, Page, verdict

from anon_sql.hosts.duckdb.install import literal

TABLES = """
    CREATE TABLE learned (data VARCHAR, name VARCHAR, k INTEGER, accuracy DOUBLE, f_measure DOUBLE);
    CREATE TABLE lost (data VARCHAR, name VARCHAR, k INTEGER, rows INTEGER, gcp DOUBLE)
"""


def prepare(con) -> None:
    con.execute(TABLES)


def learn(con, data, method: Method, table: str, k: int, first: bool) -> None:
    """Measure the accuracy of a forest into ``learned``, once for the raw table."""
    baseline = "raw" if first and method.name == SDKA else "none"
    con.execute(
        f"INSERT INTO learned SELECT ?, if(data = 'raw', 'raw table', ?), {k}, accuracy, "
        f"f_measure FROM classification({literal(table)}, 'released', "
        f"target := {literal(data.sensitive)}, baseline := '{baseline}', "
        f"{measured.columns(data.columns)})",
        [data.name, method.name],
    )


def lose(con, data, method: Method, table: str, k: int, roles: str) -> None:
    """Measure the information loss of the real rows into ``lost``."""
    if method.function == "sdka":
        stats = Method(method.name, "sdka_stats", **method.options)
        loss = f"(SELECT gcp FROM {stats.call(table, k, 1, roles)})"
    else:
        loss = f"gcp({literal(table)}, 'released', {measured.columns(data.columns)})"
    con.execute(
        f"INSERT INTO lost SELECT ?, ?, {k}, (SELECT count(*) FROM released), {loss}",
        [data.name, method.name],
    )


def compared(con, data, table: str, figure: str, of: str = "own > plain") -> tuple[int, int]:
    """Return at how many k SDkA's figure has a relation to k-anonymity's, and the number of k."""
    held = con.execute(
        f"SELECT count_if({of}), count(*) FROM (SELECT o.{figure} AS own, p.{figure} AS plain "
        f"FROM {table} o JOIN {table} p USING (data, k) WHERE data = ? AND o.name = ? "
        "AND p.name = ?)",
        [data.name, SDKA, PLAIN],
    ).fetchall()[0]
    return held[0], held[1]


def gains(con, data, table: str, figure: str) -> str:
    """Return by how many per cent SDkA differs from k-anonymity: mean and range over k."""
    return con.execute(
        f"SELECT format('{{:+.1f}} % ({{:+.1f}} to {{:+.1f}})', avg(d), min(d), max(d)) FROM "
        f"(SELECT 100 * (o.{figure} / p.{figure} - 1) AS d FROM {table} o JOIN {table} p "
        "USING (data, k) WHERE data = ? AND o.name = ? AND p.name = ?)",
        [data.name, SDKA, PLAIN],
    ).fetchall()[0][0]


def claims(con, data) -> list[Claim]:
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


def write(con, page: Page, data, names: list[str]) -> None:
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
