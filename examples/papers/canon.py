"""The experiments of CANON (Canbay, Sagiroglu and Vural 2022), with the printed figures.

python examples/papers/canon.py DATA, the folder of adult.parquet and diabetes.parquet.
"""

import time

import asked
import measured
import tables
from measured import Method
from page import Claim, Page, verdict

CANON, STRICT, RELAXED = "CANON", "Mondrian strict", "Mondrian relaxed"
METHODS = [
    Method(CANON, "canon", drawn=True, tries=1),
    Method("CANON, balanced", "canon", drawn=True, cut="balanced"),
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
PRINTED = {"Adult": (45.47, 13.55), "Diabetes": (31.01, 37.04)}
Found = dict[str, dict[int, float]]


def changes(found: Found, against: str) -> list[float]:
    """Return by how many per cent CANON's measure differs from another's, for each k."""
    return [100 * (at / found[against][k] - 1) for k, at in found[CANON].items()]


def times(found: Found, name: str) -> str:
    """Return the range over k of CANON's measure as a multiple of another's."""
    ratios = [at / found[name][k] for k, at in found[CANON].items()]
    return f"{min(ratios):.3f}–{max(ratios):.3f}"


def claims(data: str, found: dict[str, Found]) -> list[Claim]:
    gcp, ks = found["gcp"], list(found["gcp"][CANON])
    made = []
    for against, printed in zip((RELAXED, STRICT), PRINTED[data], strict=True):
        found_changes = changes(gcp, against)
        below = sum(gcp[CANON][k] < gcp[against][k] for k in ks)
        made.append(
            Claim(
                f"{data}: lower GCP than {against}",
                f"-{printed:.2f} %",
                f"{sum(found_changes) / len(ks):+.2f} % ({min(found_changes):+.2f} to "
                f"{max(found_changes):+.2f})",
                verdict(below, len(ks)),
            )
        )
    about = [times(found[measure], RELAXED) for measure in ("classes", "dm", "cavg")]
    near = sum(abs(found["cavg"][CANON][k] / found["cavg"][RELAXED][k] - 1) <= 0.1 for k in ks)
    made.append(
        Claim(
            f"{data}: classes, DM and AECS almost those of {RELAXED}",
            "almost the same",
            f"{about[0]}, {about[1]} and {about[2]} times those",
            verdict(near, len(ks)) + " (AECS within 10 %)",
        )
    )
    more = sum(
        found["classes"][STRICT][k] > found["classes"][CANON][k]
        and found["dm"][STRICT][k] < found["dm"][CANON][k]
        for k in ks
    )
    made.append(
        Claim(
            f"{data}: {STRICT} has more classes, lower DM and AECS",
            "generally" if data == "Adult" else "different values",
            f"{times(found['classes'], STRICT)} times its classes, "
            f"{times(found['dm'], STRICT)} times its DM",
            verdict(more, len(ks)),
        )
    )
    return made


def main() -> None:
    given = asked.read("The experiments of CANON.", [5, 10, 20, 30, 50, 75, 100])
    began, con = time.monotonic(), measured.connect()
    people = tables.adult(con, given.data, given.rows)
    encounters = tables.diabetes(con, given.data, given.rows)
    page = Page(given.into, "canon", "CANON: a VP-tree for numbers")
    said, body = [], []
    for data, qids in (("Adult", tables.NUMBERS), ("Diabetes", tables.DIABETES)):
        table = f"{data.lower()}_numbers"
        tables.selected(con, table, data.lower(), qids, "")
        seeds = range(1, given.seeds + 1)
        measured.measure(con, data, table, METHODS, given.ks, seeds, measured.columns(qids))
        found = {measure: measured.means(con, data, measure) for measure, *_ in FIGURES}
        said += claims(data, found)
        body.append((data, found))
    page.template(
        "setting",
        people=people,
        encounters=encounters,
        numbers=", ".join(tables.NUMBERS),
        diabetes=", ".join(tables.DIABETES),
        seeds=given.seeds,
    )
    page.claims(said)
    page.heading("Findings")
    page.template("findings")
    for data, found in body:
        page.heading(data)
        for measure, title, figure, digits in FIGURES:
            page.text(f"Figure {figure}: {title}.")
            page.table(measured.by_k(con, data, measure, NAMES, digits))
            page.chart(
                f"{data.lower()}_{measure}",
                f"{data}: {title}",
                *("k", measure),
                measured.series(found[measure]),
            )
    page.text(
        f"Made by `examples/papers/canon.py` in {time.monotonic() - began:.0f} s; the releases' "
        "measures are those of `compare`."
    )
    page.write()


if __name__ == "__main__":
    main()
