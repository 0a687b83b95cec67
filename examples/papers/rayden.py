"""The experiments of RAYDEN (Haruna et al. 2026), with the printed figures.

python examples/papers/rayden.py DATA, the folder of adult.parquet and hierarchies/adult.
"""

import asked
import measured
import outliers
import tables
from imitated import COF_UNGUARDED, PLAIN, RAYDEN_UNGUARDED
from measured import Means
from page import Claim, Page
from released import Columns, Method
from verdicts import NOTHING, Verdict, changes, every, exposed, lower, lowest, span

LITERAL = {"cut": "median", "tries": 1, "unrecovered": "suppress"}
RAYDEN, OURS, QUIET = "RAYDEN", "RAYDEN, ours", "RAYDEN, no outliers"
COF, STRICT, CANON = "M-COF", "Mondrian", "CANON"
MIXED = [  # all run with every seed: times differ where releases do not
    Method(RAYDEN, "rayden", drawn=True, **LITERAL),
    Method(OURS, "rayden", drawn=True),
    Method(QUIET, "rayden", drawn=True, alpha=1e9),
    Method(COF, "mondrian_cof", drawn=True, distance="codes", unrecovered="suppress"),
    Method(STRICT, "mondrian", drawn=True),
    Method("anonymize", "anonymize", drawn=True),
]
FLAT = [*MIXED, PLAIN, RAYDEN_UNGUARDED, COF_UNGUARDED]
NUMERIC = [*MIXED[:2], Method(CANON, "canon", drawn=True, tries=1), *MIXED[3:]]
RIVALS = [COF, STRICT]
FIGURES = [
    ("seconds", "time in seconds", "2", 3),
    ("dm", "DM, sum of squared class sizes", "3", 0),
    ("cavg", "CAVG, mean class size / k", "4", 3),
    ("gcp", "GCP, share of information lost", "5", 4),
]
SAID = {
    "dm": "“superior DM performance across all k values”",
    "cavg": "“CAVG values closest to 1.0 across all k values tested”",
    "gcp": "“consistently produces the lowest GCP values across all k values”",
}
SIZES = [1_000, 1_500, 10_000, 20_000, 30_000]
OTHERS = {  # further experiments against a competent baseline
    "samples": RIVALS,
    "hierarchies": RIVALS,
    "numbers": [CANON, *RIVALS],
}
EXPERIMENTS = [
    ("first rows", "mixed columns, the first {n:,} rows, a seed each"),
    ("samples", "mixed columns, a random sample of {n:,} rows for each seed"),
    ("flat", "mixed columns with hierarchies of two levels, the first {n:,} rows, a seed each"),
    ("hierarchies", "mixed columns with hierarchies, the first {n:,} rows, a seed each"),
    ("numbers", "the five numeric columns of CANON, the first {n:,} rows, a seed each"),
]


def run(con, given) -> None:
    people = tables.adult(con, given.data, given.rows)
    tables.hierarchies(con, given.data)
    run_experiments(con, given, min(2_000, people))
    run_sizes(con, given, people)
    outliers.run(con, [MIXED[3], *MIXED[:2]], given.seeds, people)


def run_experiments(con, given, n: int) -> None:
    """Run experiments 1 and 2: n rows, for each k."""
    seeds = range(1, given.seeds + 1)
    mixed = Columns(tables.MIXED)
    kept = [*tables.MIXED, "income"]
    tables.selected(con, "first_rows", "adult", kept, f"LIMIT {n}")
    tables.selected(con, "first_numbers", "adult", tables.NUMBERS, f"LIMIT {n}")
    tables.flat(con, "first_rows", tables.MIXED[1:])
    for experiment, compared, columns in (
        ("first rows", MIXED, mixed),
        ("flat", FLAT, Columns(tables.MIXED, "flat")),
        ("hierarchies", MIXED, Columns(tables.MIXED, "trees")),
    ):
        measured.measure(con, experiment, "first_rows", compared, given.ks, seeds, columns)
    numbers = Columns(tables.NUMBERS)
    measured.measure(con, "numbers", "first_numbers", NUMERIC, given.ks, seeds, numbers)
    for seed in seeds:
        drawn = f"ORDER BY md5(concat(rowid, '/', {seed})) LIMIT {n}"
        tables.selected(con, f"sample_{seed}", "adult", kept, drawn)
        measured.measure(con, "samples", f"sample_{seed}", MIXED, given.ks, [seed], mixed)


def run_sizes(con, given, people: int) -> None:
    """Run experiment 3: k = 10 and an increasing number of rows, which is stored as k."""
    seeds, mixed = range(1, given.seeds + 1), Columns(tables.MIXED)
    for n in sorted({min(size, people) for size in SIZES}):
        tables.selected(con, f"first_{n}", "adult", [*tables.MIXED, "income"], f"LIMIT {n}")
        measured.measure(con, "sizes", f"first_{n}", MIXED, [10], seeds, mixed)
    con.execute("UPDATE measured SET k = rows WHERE experiment = 'sizes'")


def found(con, experiment: str, measure: str) -> Means:
    """Return the means of a measure; of CAVG, its distance from 1."""
    return measured.means(con, experiment, "abs(cavg - 1)" if measure == "cavg" else measure)


def claims(con) -> list[Claim]:
    made = [
        Claim(
            said,
            "–",
            lower(*(found(con, "flat", measure)[name] for name in (RAYDEN, PLAIN.name))),
            lowest(found(con, "first rows", measure), RAYDEN, RIVALS),
            headline=True,
        )
        for measure, said in SAID.items()
    ]
    name, rivals = RAYDEN_UNGUARDED.name, [PLAIN.name, COF_UNGUARDED.name]
    shares = found(con, "flat", "below")[name]
    made += [
        Claim(
            f"the same with algorithm 1 to the letter and no guard ({measure.upper()})",
            "–",
            exposed(lowest(found(con, "flat", measure), name, rivals), shares),
            NOTHING,
        )
        for measure in SAID
    ]
    for experiment, rivals in OTHERS.items():
        made += [
            Claim(
                f"the same, {experiment} ({measure.upper()})",
                "–",
                NOTHING,
                lowest(found(con, experiment, measure), RAYDEN, rivals),
            )
            for measure in SAID
        ]
    made.append(advantage(con))
    return [*made, *times(con), *outliers.claims(con, RAYDEN, COF)]


def advantage(con) -> Claim:
    """Judge at which k the advantage in GCP is largest."""

    def judged(changed: dict[int, float]) -> Verdict:
        best = min(changed, key=lambda k: changed[k])
        holds = best <= 20 and changed[best] < 0
        text = f"{changed[best]:+.1f} % at k = {best}, the best k"
        return Verdict(text, "holds" if holds else "fails", "–")

    flat, rows = found(con, "flat", "gcp"), found(con, "first rows", "gcp")
    best = {k: min(rows[rival][k] for rival in RIVALS) for k in rows[RAYDEN]}
    return Claim(
        "“advantages are most substantial at … k = 5 to k = 20” (GCP)",
        "–",
        judged(changes(flat[RAYDEN], flat[PLAIN.name])),
        judged(changes(rows[RAYDEN], best)),
    )


def times(con) -> list[Claim]:
    """Judge the claims on time, of this project's compiled methods only."""
    seconds = measured.means(con, "sizes", "seconds", "min")
    slower = {n: max(seconds[rival][n] for rival in RIVALS) for n in seconds[RAYDEN]}
    n, most = max(seconds[RAYDEN].items())
    return [
        Claim(
            "“the most computationally expensive algorithm across all k values”",
            "–",
            NOTHING,
            lower(seconds[RAYDEN], slower, sign=-1),
        ),
        Claim(
            "“completes anonymization in under four seconds”",
            "< 4 s",
            NOTHING,
            Verdict(f"{most:.2f} s, {n:,} rows", every([most - 4]), "–"),
        ),
    ]


def write(con, given) -> None:
    page = Page(given.into, "rayden", "RAYDEN: a VP-tree with outlier detection for mixed columns")
    [(people,)] = con.execute("SELECT count(*) FROM adult").fetchall()
    n = min(2_000, people)
    page.template("setting", people=people, mixed=", ".join(tables.MIXED), seeds=given.seeds)
    page.claims(claims(con))
    page.heading("Findings")
    flat, shares = found(con, "flat", "gcp"), found(con, "flat", "100 * below")
    unsafe = shares[RAYDEN_UNGUARDED.name].values()
    page.template(
        "findings",
        gcp=span(flat[RAYDEN], flat[PLAIN.name]),
        exposed=f"{min(unsafe):.0f} to {max(unsafe):.0f} %",
    )
    write_below(con, page)
    for experiment, title in EXPERIMENTS:
        page.heading(f"Experiments 1 and 2: {title.format(n=n)}")
        names = [
            method.name for method in {"numbers": NUMERIC, "flat": FLAT}.get(experiment, MIXED)
        ]
        for measure, label, figure, digits in FIGURES:
            page.text(f"Figure {figure}: {label}.")
            page.table(measured.by_k(con, experiment, measure, names, digits))
            if experiment in ("first rows", "numbers"):
                lines = measured.series(measured.means(con, experiment, measure))
                name = f"{experiment.replace(' ', '_')}_{measure}"
                page.chart(name, f"{label} ({experiment})", "k", measure, lines)
    page.heading("Experiment 3: time at k = 10")
    names = [method.name for method in MIXED]
    sizes = measured.by_k(con, "sizes", "seconds", names, 3)
    page.table(sizes.project("k AS rows, * EXCLUDE k"))
    lines = measured.series(measured.means(con, "sizes", "seconds", "min"))
    page.chart("sizes", "least of the times in seconds, k = 10", "rows", "seconds", lines)
    outliers.write(con, page)
    page.text(
        "Times are those of `compare`, inside the method, on two cores that other programs used "
        "too. The plain methods have no time: they are short Python programs."
    )
    page.write()


def write_below(con, page: Page) -> None:
    page.heading("Classes of fewer than k rows without a guard, % of all classes")
    names = [RAYDEN, PLAIN.name, RAYDEN_UNGUARDED.name, COF_UNGUARDED.name]
    page.table(measured.by_k(con, "flat", "100 * below", names, 1))


if __name__ == "__main__":
    given = asked.read("The experiments of RAYDEN.", [5, 10, 20, 50, 100])
    write(measured.once(given, run), given)
