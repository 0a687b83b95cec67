"""The experiments of RAYDEN (Haruna et al. 2026), with the printed figures.

python examples/papers/rayden.py DATA, the folder of adult.parquet and hierarchies/adult.
"""

import time

import asked
import measured
import outliers
import tables
from measured import Method
from page import Claim, Page, verdict

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
NUMERIC = [*MIXED[:2], Method(CANON, "canon", drawn=True, tries=1), *MIXED[3:]]
RIVALS = [COF, STRICT]
FIGURES = [
    ("seconds", "time in seconds", "2", 3),
    ("dm", "DM, sum of squared class sizes", "3", 0),
    ("cavg", "CAVG, mean class size / k", "4", 3),
    ("gcp", "GCP, share of information lost", "5", 4),
]
SIZES = [1_000, 1_500, 10_000, 20_000, 30_000]
EXPERIMENTS = [
    ("first rows", "mixed columns, the first {n:,} rows, a seed each"),
    ("samples", "mixed columns, a random sample of {n:,} rows for each seed"),
    ("hierarchies", "mixed columns with hierarchies, the first {n:,} rows, a seed each"),
    ("numbers", "the five numeric columns of CANON, the first {n:,} rows, a seed each"),
]


def run_experiments(con, given, n: int) -> None:
    """Run experiments 1 and 2: n rows, for each k."""
    seeds = range(1, given.seeds + 1)
    mixed, trees = measured.columns(tables.MIXED), measured.columns(tables.MIXED, "trees")
    kept = [*tables.MIXED, "income"]
    tables.selected(con, "first_rows", "adult", kept, f"LIMIT {n}")
    tables.selected(con, "first_numbers", "adult", tables.NUMBERS, f"LIMIT {n}")
    measured.measure(con, "first rows", "first_rows", MIXED, given.ks, seeds, mixed)
    measured.measure(con, "hierarchies", "first_rows", MIXED, given.ks, seeds, trees)
    numbers = measured.columns(tables.NUMBERS)
    measured.measure(con, "numbers", "first_numbers", NUMERIC, given.ks, seeds, numbers)
    for seed in seeds:
        drawn = f"ORDER BY md5(concat(rowid, '/', {seed})) LIMIT {n}"
        tables.selected(con, f"sample_{seed}", "adult", kept, drawn)
        measured.measure(con, "samples", f"sample_{seed}", MIXED, given.ks, [seed], mixed)


def run_sizes(con, given, people: int) -> None:
    """Run experiment 3: k = 10 and an increasing number of rows, which is stored as k."""
    for n in sorted({min(size, people) for size in SIZES}):
        tables.selected(con, f"first_{n}", "adult", [*tables.MIXED, "income"], f"LIMIT {n}")
        measured.measure(
            con,
            "sizes",
            f"first_{n}",
            MIXED,
            [10],
            range(1, given.seeds + 1),
            measured.columns(tables.MIXED),
        )
    con.execute("UPDATE measured SET k = rows WHERE experiment = 'sizes'")


def lowest(found, name: str, rivals: list[str]) -> int:
    """Return at how many k a measure is below that of every rival."""
    return sum(all(at < found[rival][k] for rival in rivals) for k, at in found[name].items())


def gain(found, name: str, rivals: list[str]) -> str:
    """Return per cent above the best rival, for each k."""
    return ", ".join(f"{change:+.1f}" for change in changes(found, name, rivals).values())


def changes(found, name: str, rivals: list[str]) -> dict[int, float]:
    """Return k → per cent by which a measure is above that of the best rival."""
    return {
        k: 100 * (at / min(found[rival][k] for rival in rivals) - 1)
        for k, at in found[name].items()
    }


def claims_of(con, experiment: str, where: str, rivals: list[str]) -> list[Claim]:
    made = []
    for measure, said in (
        ("dm", "lowest DM of all compared"),
        ("cavg", "CAVG nearest 1"),
        ("gcp", "lowest GCP of all compared"),
    ):
        found = measured.means(con, experiment, measure)
        held = lowest(found, RAYDEN, rivals)
        made.append(
            Claim(
                f"{said} ({where})",
                "lower, at every k",
                f"% against the best of {', '.join(rivals)}: {gain(found, RAYDEN, rivals)}",
                verdict(held, len(found[RAYDEN])),
            )
        )
    return made


def claims(con) -> list[Claim]:
    made = claims_of(con, "first rows", "mixed columns", RIVALS)
    made += claims_of(con, "samples", "mixed columns, random samples", RIVALS)[2:]
    made += claims_of(con, "hierarchies", "hierarchies", RIVALS)[2:]
    made += claims_of(con, "numbers", "numeric columns", [CANON, *RIVALS])
    least = changes(measured.means(con, "first rows", "gcp"), RAYDEN, RIVALS)
    best = min(least, key=lambda k: least[k])
    made.append(
        Claim(
            "its advantage in GCP is largest at k = 5 to 20 (elsewhere: 5 to 15)",
            "yes",
            f"{least[best]:+.1f} % at k = {best}, its best",
            verdict(best <= 20 and least[best] < 0, 1),
        )
    )
    seconds = measured.means(con, "sizes", "seconds", "min")
    slowest = sum(
        all(at > seconds[rival][n] for rival in RIVALS) for n, at in seconds[RAYDEN].items()
    )
    n, most = max(seconds[RAYDEN].items())
    slower = [at / max(seconds[rival][n] for rival in RIVALS) for n, at in seconds[RAYDEN].items()]
    made.append(
        Claim(
            "slowest of all compared (experiment 3)",
            "at every n",
            f"{min(slower):.2f}–{max(slower):.2f} times the slower rival",
            verdict(slowest, len(slower)),
        )
    )
    made.append(
        Claim("under four seconds", "< 4 s", f"{most:.2f} s for {n:,} rows", verdict(most < 4, 1))
    )
    return made + outliers.claims(con, RAYDEN, COF)


def main() -> None:
    given = asked.read("The experiments of RAYDEN.", [5, 10, 20, 50, 100])
    began, con = time.monotonic(), measured.connect()
    people = tables.adult(con, given.data, given.rows)
    tables.hierarchies(con, given.data)
    n = min(2_000, people)
    run_experiments(con, given, n)
    run_sizes(con, given, people)
    outliers.run(con, [MIXED[3], *MIXED[:2]], given.seeds, people)
    page = Page(given.into, "rayden", "RAYDEN: a VP-tree with outlier detection for mixed columns")
    page.template("setting", people=people, mixed=", ".join(tables.MIXED), seeds=given.seeds)
    page.claims(claims(con))
    page.heading("Findings")
    page.template("findings")
    for experiment, title in EXPERIMENTS:
        page.heading(f"Experiments 1 and 2: {title.format(n=n)}")
        names = [method.name for method in (NUMERIC if experiment == "numbers" else MIXED)]
        for measure, label, figure, digits in FIGURES:
            page.text(f"Figure {figure}: {label}.")
            page.table(measured.by_k(con, experiment, measure, names, digits))
            if experiment in ("first rows", "numbers"):
                found = measured.series(measured.means(con, experiment, measure))
                name = f"{experiment.replace(' ', '_')}_{measure}"
                page.chart(name, f"{label} ({experiment})", "k", measure, found)
    page.heading("Experiment 3: time at k = 10")
    names = [method.name for method in MIXED]
    sizes = measured.by_k(con, "sizes", "seconds", names, 3)
    page.table(sizes.project("k AS rows, * EXCLUDE k"))
    found = measured.series(measured.means(con, "sizes", "seconds", "min"))
    page.chart("sizes", "least of the times in seconds, k = 10", "rows", "seconds", found)
    outliers.write(con, page)
    page.text(
        f"Made by `examples/papers/rayden.py` in {time.monotonic() - began:.0f} s; times are those "
        "of `compare`, inside the method, on two cores that other programs used too."
    )
    page.write()


if __name__ == "__main__":
    main()
