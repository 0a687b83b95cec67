"""The experiments of CANON (Canbay, Sagiroglu and Vural 2022), with the printed figures.

python examples/papers/canon.py DATA, the folder of adult.parquet and diabetes.parquet.
"""

import asked
import measured
import tables
from imitated import PLAIN, PLAIN_RELAXED
from measured import Means
from page import Claim, Page
from released import Columns, Method
from verdicts import every, lower, most, near, some, span

CANON, STRICT, RELAXED = "CANON", "Mondrian strict", "Mondrian relaxed"
METHODS = [
    Method(CANON, "canon", drawn=True, tries=1),
    Method("CANON, balanced", "canon", drawn=True, cut="balanced"),
    PLAIN_RELAXED,
    PLAIN,
    Method(RELAXED, "mondrian", partitioning="relaxed"),
    Method(STRICT, "mondrian"),
    Method("anonymize", "anonymize"),
]
NAMES = [method.name for method in METHODS]
FIGURES = [
    ("classes", "ES, equivalence classes", "5a, 5b", 0),
    ("dm", "DM, sum of squared class sizes", "5c, 5d", 0),
    ("cavg", "AECS, mean class size / k", "5e, 5f", 3),
    ("gcp", "GCP, share of information lost", "5g, 5h", 4),
]
TABLES = {"Adult": tables.NUMBERS, "Diabetes": tables.DIABETES}
SAID = {  # the quoted claims on GCP: against, the quantifier, per cent
    "Adult": [
        ("“higher data utility than Mondrian-R in terms of GCP”", RELAXED, every, -45.47),
        ("“higher data utility than Mondrian-S, for some k values”", STRICT, some, -13.55),
    ],
    "Diabetes": [
        ("“lower values than other two models” (Mondrian-R)", RELAXED, every, -31.01),
        ("“better data utility than … Mondrian-S for different k values”", STRICT, some, -37.04),
    ],
}
OF_GONG = {  # GCP on Adult as measured of the imitated program, by k
    PLAIN.name: {5: 0.0260, 10: 0.0407, 25: 0.0624, 50: 0.0840, 100: 0.1110},
    PLAIN_RELAXED.name: {5: 0.0376, 10: 0.0572, 25: 0.0838, 50: 0.1187, 100: 0.1656},
}
KINDS = {RELAXED: PLAIN_RELAXED.name, STRICT: PLAIN.name}


def run(con, given) -> None:
    tables.adult(con, given.data, given.rows)
    tables.diabetes(con, given.data, given.rows)
    for data, quasi in TABLES.items():
        table = f"{data.lower()}_numbers"
        tables.selected(con, table, data.lower(), quasi, "")
        seeds = range(1, given.seeds + 1)
        measured.measure(con, data, table, METHODS, given.ks, seeds, Columns(quasi))
    known = list(OF_GONG[PLAIN.name])
    numbers = Columns(tables.NUMBERS)
    measured.measure(con, "known", "adult_numbers", [PLAIN, PLAIN_RELAXED], known, [1], numbers)


def claims(data: str, found: dict[str, Means]) -> list[Claim]:
    gcp = found["gcp"]
    made = [
        Claim(
            f"{data}: {said}",
            f"{printed:+.2f} %",
            lower(gcp[CANON], gcp[KINDS[rival]], printed, quantifier),
            lower(gcp[CANON], gcp[rival], printed, quantifier),
            headline=True,
        )
        for said, rival, quantifier, printed in SAID[data]
    ]
    for measure, said in {"classes": "ES", "dm": "DM", "cavg": "AECS"}.items():
        of = found[measure]
        made.append(
            Claim(
                f"{data}: {said} “almost the same” as Mondrian-R (within 10 %)",
                "–",
                near(of[CANON], of[KINDS[RELAXED]]),
                near(of[CANON], of[RELAXED]),
            )
        )
    if data == "Adult":  # of Diabetes the paper says "different values"
        for measure, sign, said in (("classes", -1, "higher ES"), ("dm", 1, "lower DM")):
            of = found[measure]
            made.append(
                Claim(
                    f"{data}: Mondrian-S “generally {said}” than CANON",
                    "–",
                    lower(of[KINDS[STRICT]], of[CANON], None, most, sign),
                    lower(of[STRICT], of[CANON], None, most, sign),
                )
            )
    return made


def write(con, given) -> None:
    page = Page(given.into, "canon", "CANON: a VP-tree for numbers")
    count = "SELECT (SELECT count(*) FROM adult), (SELECT count(*) FROM diabetes)"
    people, encounters = con.execute(count).fetchall()[0]
    page.template(
        "setting",
        people=people,
        encounters=encounters,
        numbers=", ".join(tables.NUMBERS),
        diabetes=", ".join(tables.DIABETES),
        seeds=given.seeds,
    )
    body = {
        data: {measure: measured.means(con, data, measure) for measure, *_ in FIGURES}
        for data in TABLES
    }
    page.claims([claim for data, found in body.items() for claim in claims(data, found)])
    page.heading("Findings")
    page.template(
        "findings",
        **{
            f"{rival.split()[1]}_{data.lower()}": span(
                found["gcp"][CANON], found["gcp"][KINDS[rival]]
            )
            for data, found in body.items()
            for rival in KINDS
        },
    )
    page.heading("How the plain Mondrian was recognised")
    page.text("GCP on Adult of the program that it imitates → of the imitation.")
    known = measured.means(con, "known", "gcp")
    page.rows(
        ["k", *OF_GONG],
        [
            [str(k), *(f"{of[k]:.4f} → {known[name][k]:.4f}" for name, of in OF_GONG.items())]
            for k in OF_GONG[PLAIN.name]
        ],
    )
    for data, found in body.items():
        page.heading(data)
        for measure, title, figure, digits in FIGURES:
            page.text(f"Figure {figure}: {title}.")
            page.table(measured.by_k(con, data, measure, NAMES, digits))
            lines = measured.series(found[measure])
            page.chart(f"{data.lower()}_{measure}", f"{data}: {title}", "k", measure, lines)
    page.write()


if __name__ == "__main__":
    given = asked.read("The experiments of CANON.", [5, 10, 20, 30, 40, 50, 60, 70])
    write(measured.once(given, run), given)
