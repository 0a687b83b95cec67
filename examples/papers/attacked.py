"""The four attacks of SDkA's paper, counted on a series of releases."""

from typing import NamedTuple

import measured
from page import Claim, Page, verdict

from anon_sql.hosts.duckdb.install import literal

SDKA, PLAIN = "SDkA", "k-anonymity"
SAMPLE = 5000  # persons that are attacked, where there are more
ATTACKS = {  # the function, what it counts, and more arguments
    "homogeneity": ("attack_homogeneity", "exposed_classes", ""),
    "skewness": ("attack_skewness", "exposed_classes", ", threshold := 0.8"),
    "linking": ("attack_linking", "linked", f", sample := {SAMPLE}"),
    "background knowledge": ("attack_background", "guessed", f", sample := {SAMPLE}"),
}


class Printed(NamedTuple):
    """Printed figures: per cent below k-anonymity in each attack; total deviations of both."""

    improvements: tuple[float, ...]
    deviations: tuple[float, float]


def prepare(con) -> None:
    con.execute(
        "CREATE TABLE attacked (data VARCHAR, name VARCHAR, seed INTEGER, k INTEGER, "
        "attack VARCHAR, figure DOUBLE)"
    )


def attack(con, data: str, name: str, seed: int, k: int, table: str, roles: str) -> None:
    """Run all attacks on the table ``released``, each on the same persons."""
    for attack, (function, figure, more) in ATTACKS.items():
        con.execute(
            f"INSERT INTO attacked SELECT ?, ?, {seed}, {k}, ?, {figure} "
            f"FROM {function}({literal(table)}, 'released', {roles}{more})",
            [data, name, attack],
        )


def improved(con, data: str, attack: str) -> str:
    """Return by how many per cent SDkA's figure is below k-anonymity's, mean over k, per seed."""
    (text,) = con.execute(
        "SELECT format('{:.1f} % ({:.1f} to {:.1f})', avg(mean), min(mean), max(mean)) FROM "
        "(SELECT avg(100 * (1 - own.figure / plain.figure)) AS mean "
        "FROM attacked own JOIN attacked plain USING (data, attack, seed, k) "
        "WHERE data = ? AND attack = ? AND own.name = ? AND plain.name = ? AND plain.figure > 0 "
        "GROUP BY seed)",
        [data, attack, SDKA, PLAIN],
    ).fetchall()[0]
    return text or "–"


def below(con, data: str, attack: str) -> tuple[int, int]:
    """Return at how many k SDkA's mean is below k-anonymity's, and at how many the two differ."""
    found = con.execute(
        "SELECT avg(figure) FILTER (name = ?), avg(figure) FILTER (name = ?) FROM attacked "
        "WHERE data = ? AND attack = ? GROUP BY k",
        [SDKA, PLAIN, data, attack],
    ).fetchall()
    return sum(own < plain for own, plain in found), sum(own != plain for own, plain in found)


def deviations(con, data: str) -> list[tuple[str, float, float]]:
    """Return name, total and mean over the attacks of the deviation over k, means over seeds."""
    return con.execute(
        "SELECT name, sum(mean) AS total, avg(mean) FROM (SELECT name, attack, avg(deviation) "
        "AS mean FROM (SELECT name, attack, seed, coalesce(stddev(figure), 0) AS deviation "
        "FROM attacked WHERE data = ? GROUP BY ALL) GROUP BY ALL) GROUP BY name ORDER BY total",
        [data],
    ).fetchall()


def claims(con, data: str, printed: Printed) -> list[Claim]:
    made = [
        Claim(
            f"{data}: better than k-anonymity against {attack}",
            f"{theirs} %",
            improved(con, data, attack),
            verdict(*below(con, data, attack)),
        )
        for attack, theirs in zip(ATTACKS, printed.improvements, strict=True)
    ]
    total = {name: total for name, total, _ in deviations(con, data)}
    made.append(
        Claim(
            f"{data}: attacks vary less over the releases (table 1)",
            "{} against {}".format(*printed.deviations),
            f"{total[SDKA]:.2f} against {total[PLAIN]:.2f}",
            verdict(total[SDKA] < total[PLAIN], 1),
        )
    )
    return made


def write(con, page: Page, data: str, names: list[str]) -> None:
    """Write a table and a chart per attack, then table 1."""
    for attack, (_, figure, _) in ATTACKS.items():
        page.heading(f"{data}: {attack}, {figure.replace('_', ' ')}")
        chosen = f"FROM attacked WHERE data = {literal(data)} AND attack = {literal(attack)}"
        cells = f"SELECT k, name, spread(figure, 0) AS cell {chosen} GROUP BY ALL"
        page.table(measured.pivoted(con, cells, "k", names))
        series = con.execute(
            f"SELECT name, list((k, mean) ORDER BY k) FROM (SELECT name, k, avg(figure) AS mean, "
            f"min(rowid) AS nth {chosen} GROUP BY ALL) GROUP BY name ORDER BY min(nth)"
        ).fetchall()
        title = f"{data}: {attack}"
        page.chart(f"{data.lower()}_{attack.split()[0]}", title, "k", figure, dict(series))
    page.heading(f"{data}: standard deviations over the releases (table 1)")
    page.text(
        "Of each attack's count over k, mean over the seeds; the total and the mean of the four."
    )
    page.rows(["method", "total", "mean"], deviations(con, data))
