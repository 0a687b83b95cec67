"""Table 3 of RAYDEN: outliers detected, recovered, returned and suppressed."""

import measured
import tables
from measured import Method
from page import Claim, Page, verdict

TABLE_3 = {  # k: detected, recovered, suppressed and recovery in % of M-COF, of RAYDEN
    5: ((312, 308, 4, 98.7), (421, 409, 12, 97.1)),
    10: ((287, 274, 13, 95.4), (394, 381, 13, 96.7)),
    15: ((264, 239, 25, 90.5), (371, 356, 15, 95.9)),
    20: ((241, 208, 33, 86.3), (348, 329, 19, 94.5)),
    25: ((218, 174, 44, 79.8), (311, 282, 29, 90.7)),
}


def run(con, methods: list[Method], seeds: int, people: int) -> None:
    """Measure table 3 into a table ``outliers``."""
    tables.selected(
        con, "ten_thousand", "adult", [*tables.MIXED, "income"], f"LIMIT {min(10_000, people)}"
    )
    con.execute(
        "CREATE TABLE outliers (name VARCHAR, k INTEGER, seed INTEGER, detected INTEGER, "
        "recovered INTEGER, returned INTEGER, suppressed INTEGER, orr DOUBLE)"
    )
    for method in methods:
        stats = Method(method.name, method.function + "_stats", method.drawn, **method.options)
        for k in TABLE_3:
            for seed in range(1, seeds + 1) if method.drawn else [1]:
                call = stats.call("ten_thousand", k, seed, measured.columns(tables.MIXED))
                con.execute(
                    f"INSERT INTO outliers SELECT ?, {k}, {seed}, "
                    f"detected, recovered, returned, suppressed, orr FROM {call}",
                    [method.name],
                )


def claims(con, rayden: str, cof: str) -> list[Claim]:
    made = []
    lost, rate = means(con, "suppressed"), means(con, "100 * orr")
    made.append(
        Claim(
            "recovers more than 90 % of the outliers",
            "90.7–97.1 %",
            f"{min(rate[rayden]):.1f}–{max(rate[rayden]):.1f} %",
            verdict(sum(share > 90 for share in rate[rayden]), len(TABLE_3)),
        )
    )
    pairs = list(zip(lost[rayden], lost[cof], strict=True))
    made.append(
        Claim(
            "suppresses fewer rows than M-COF",
            "12, 13, 15, 19, 29 against 4, 13, 25, 33, 44",
            f"{', '.join(f'{rows:.3g}' for rows in lost[rayden])} against "
            f"{', '.join(f'{rows:.3g}' for rows in lost[cof])}",
            verdict(sum(a < b for a, b in pairs), sum(a != b for a, b in pairs)),
        )
    )
    found = means(con, "detected")
    ratios = [a / b for a, b in zip(found[rayden], found[cof], strict=True)]
    made.append(
        Claim(
            "detects more outliers than M-COF",
            "1.35–1.43 times as many",
            f"{min(ratios):.2f}–{max(ratios):.2f} times as many",
            verdict(sum(ratio > 1 for ratio in ratios), len(TABLE_3)),
        )
    )
    return made


def means(con, measure: str) -> dict[str, list[float]]:
    """Return name → mean of a measure for each k of table 3."""
    rows = con.execute(
        f"SELECT name, list(mean ORDER BY k) FROM (SELECT name, k, avg({measure}) AS mean "
        "FROM outliers GROUP BY ALL) GROUP BY ALL"
    )
    return dict(rows.fetchall())


def write(con, page: Page) -> None:
    page.heading("Table 3: outliers at n = 10,000")
    printed = " UNION ALL ".join(
        "SELECT {} AS k, '{}' AS name, {} AS d, {} AS r, {} AS s, {} AS p".format(k, name, *row)
        for k, both in TABLE_3.items()
        for name, row in zip(("M-COF", "RAYDEN"), both, strict=True)
    )
    page.table(
        con.sql(
            'SELECT k, name AS method, any_value(d) AS "detected, printed", '
            'spread(detected, 0) AS detected, any_value(r) AS "recovered, printed", '
            'spread(recovered, 0) AS recovered, any_value(s) AS "suppressed, printed", '
            "spread(suppressed, 0) AS suppressed, spread(returned, 0) AS returned, "
            "format('{:.1f}', any_value(p)::DOUBLE) AS \"recovery %, printed\", "
            'spread(100 * orr, 1) AS "recovery %" '
            f"FROM outliers LEFT JOIN ({printed}) USING (k, name) GROUP BY k, name ORDER BY k, name"
        )
    )
