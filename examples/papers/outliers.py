"""Table 3 of RAYDEN: outliers detected, recovered, returned and suppressed."""

import tables
from page import Claim, Page
from released import Columns, Method
from verdicts import NOTHING, Verdict, every, lower

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
                call = stats.call("ten_thousand", k, seed, Columns(tables.MIXED))
                con.execute(
                    f"INSERT INTO outliers SELECT ?, {k}, {seed}, "
                    f"detected, recovered, returned, suppressed, orr FROM {call}",
                    [method.name],
                )


def claims(con, rayden: str, cof: str) -> list[Claim]:
    lost, rate, found = (means(con, of)[rayden] for of in ("suppressed", "100 * orr", "detected"))
    theirs, many = means(con, "suppressed")[cof], means(con, "detected")[cof]
    more = [100 * (own[0] / other[0] - 1) for other, own in TABLE_3.values()]
    pairs = list(zip(lost, theirs, strict=True))
    rows = ", ".join(f"{own:.3g} against {other:.3g}" for own, other in pairs)
    made = [
        (
            "“a mean recovery rate exceeding 90 % across all k values”",
            "90.7–97.1 %",
            Verdict(
                f"{min(rate):.1f}–{max(rate):.1f} %", every([90 - share for share in rate]), "–"
            ),
        ),
        (
            "“suppresses a smaller absolute count” than M-COF (table 3: not at k = 5 and 10)",
            "12, 13, 15, 19, 29 against 4, 13, 25, 33, 44",
            Verdict(rows, every([own - other for own, other in pairs if own != other]), "–"),
        ),
        (
            "“detects a higher proportion of outliers” than M-COF",
            ", ".join(f"{change:+.0f}" for change in more) + " %",
            lower(
                dict(zip(TABLE_3, found, strict=True)),
                dict(zip(TABLE_3, many, strict=True)),
                [-change for change in more],
                sign=-1,
            ),
        ),
    ]
    return [Claim(said, figures, NOTHING, own) for said, figures, own in made]


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
