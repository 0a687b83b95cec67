"""The experiments of M-COF (Kara and Eyüpoğlu 2023), with the printed figures.

python examples/papers/mondrian_cof.py DATA, the folder of adult.parquet and hierarchies/adult.
"""

import time

import asked
import duckdb
import measured
import tables
from imitated import COF_UNGUARDED, PLAIN
from measured import Columns, Method
from page import Claim, Page, verdict

PROPOSED = "M-COF"
METHODS = [
    Method(PROPOSED, "mondrian_cof", distance="codes", unrecovered="suppress"),
    Method("M-COF, ours", "mondrian_cof"),
    Method("M-COF, α = 0", "mondrian_cof", distance="codes", unrecovered="suppress", alpha=0),
    COF_UNGUARDED,
    PLAIN,
    Method("Mondrian", "mondrian"),
    Method("Basic Mondrian", "basic_mondrian"),
    Method("Top-down", "top_down", drawn=True),
    Method("k-member", "k_member", drawn=True),
    Method("OKA", "oka", drawn=True),
    Method("Datafly", "datafly"),
    Method("anonymize", "anonymize"),
]
NAMES = [method.name for method in METHODS]
RIVALS = NAMES[2:8]
FIGURES = [
    ("classes", "equivalence classes", "–", 0),
    ("dm", "DM, sum of squared class sizes", "4", 0),
    ("cavg", "CAVG, mean class size / k", "5", 3),
    ("gcp", "GCP, share of information lost", "6", 4),
]
QUERIES = ["Q1", "Q2", "Q3", "Q4"]
CLUSTER = (-6.11, 26.41, -5.33, 89.92, 58.69, 32.82, 32.82)
MEASURES = ["dm", "gcp", "cavg", *QUERIES]
TABLE_2 = {  # per cent, of each of these
    "Mondrian": (41.12, 6.59, 27.03, 27.99, 56.59, 30.74, 30.74),
    "Basic Mondrian": (67.27, 56.13, 46.36, 56.84, 77.60, 51.00, 59.63),
    "Top-down": (24.57, 47.78, 12.96, 88.08, 72.41, 38.34, 59.63),
    "k-member": CLUSTER,
    "OKA": CLUSTER,
    "Datafly": (99.46, 82.90, 87.37, 91.63, 85.09, 59.63, 59.63),
}
Found = dict[str, dict[str, dict[int, float]]]


def columns(method: Method) -> Columns:
    """Return the columns of a call; age has ranges, except that Datafly needs a hierarchy."""
    return Columns(tables.MIXED, "all_trees" if method.function == "datafly" else "trees")


def run(con: duckdb.DuckDBPyConnection, given) -> None:
    """Measure each release into ``measured`` and ``answered``."""
    prepare(con, given)
    con.execute(
        "CREATE TABLE answered (name VARCHAR, seed INTEGER, k INTEGER, mode VARCHAR, "
        "query VARCHAR, error DOUBLE)"
    )
    for method in METHODS:
        shared = columns(method)
        for k in given.ks:
            for seed in range(1, given.seeds + 1) if method.drawn else [1]:
                method.release(con, "adult_mixed", k, seed, shared, ", sensitive := 'income'")
                con.execute(
                    "INSERT INTO measured SELECT 'Adult', ?, ?, ?, NULL, rows, classes, dm, cavg, "
                    f"gcp, suppressed, ? FROM utility('adult_mixed', 'released', k := {k}, "
                    f"{shared})",
                    [method.name, seed, k, measured.below(con, k, shared)],
                )
                ask(con, method.name, seed, k, shared)


def prepare(con, given) -> None:
    tables.adult(con, given.data, given.rows)
    tables.hierarchies(con, given.data)
    tables.selected(con, "adult_mixed", "adult", [*tables.MIXED, "income"], "")


def ask(con, name: str, seed: int, k: int, shared: Columns) -> None:
    """Run the paper's four queries, literally as in the paper and as estimates."""
    for mode in ("literal", "estimate"):
        con.execute(
            "INSERT INTO answered SELECT ?, ?, ?, ?, 'Q' || row_number() OVER (), relative_error "
            "FROM query_error('adult_mixed', 'released', paper_queries('m_cof'), "
            f"mode := '{mode}', {shared})",
            [name, seed, k, mode],
        )


def gather(con) -> Found:
    """Return measure → name → k → mean."""
    found = {measure: measured.means(con, "Adult", measure) for measure, *_ in FIGURES}
    for name, query, k, error in con.execute(
        "SELECT name, query, k, avg(error) FROM answered WHERE mode = 'literal' GROUP BY ALL "
        "ORDER BY k, min(rowid)"
    ).fetchall():
        found.setdefault(query, {}).setdefault(name, {})[k] = error
    return found


def success(found: Found, measure: str, rival: str) -> str:
    """Return by how many per cent the method's measure is below the rival's, mean over k."""
    falls = [
        100 * (1 - ours / found[measure][rival][k])
        for k, ours in found[measure][PROPOSED].items()
        if found[measure][rival][k]
    ]
    return f"{sum(falls) / len(falls):.2f}" if falls else "–"


def short(value: float) -> str:
    """Format a count as an integer, a share with three digits."""
    return f"{value:,.0f}" if value > 1_000 else f"{value:.3f}"


def claims(found: Found) -> list[Claim]:
    said = {
        "dm": ("best DM", "at almost every k"),
        "cavg": ("best CAVG", "at every k"),
        "gcp": ("best GCP", "at every k"),
        **{query: (f"smallest error of {query}", "at every k") for query in QUERIES},
    }
    made = []
    for measure, (claim, printed) in said.items():
        held, alike, texts = 0, [], []
        for k, ours in found[measure][PROPOSED].items():
            theirs = {rival: found[measure][rival][k] for rival in RIVALS}
            best = min(theirs, key=lambda rival: theirs[rival])
            held += ours < theirs[best]
            if set(theirs.values()) == {ours}:
                alike.append(str(k))
            else:
                texts.append(f"{short(ours)} against {short(theirs[best])} ({best}) at {k}")
        said_of = verdict(held, len(texts))
        if alike:
            texts.append(f"all methods alike at {', '.join(alike)}")
        made.append(Claim(claim, printed, ", ".join(texts), said_of))
    for measure in ("classes", "dm", "gcp"):
        ours, theirs = found[measure][PROPOSED], found[measure]["Mondrian"]
        held = sum((at > theirs[k]) == (measure == "classes") for k, at in ours.items())
        text = ", ".join(f"{100 * (at / theirs[k] - 1):+.2f} % at {k}" for k, at in ours.items())
        claim = {"classes": "more classes", "dm": "lower DM", "gcp": "lower GCP"}[measure]
        printed = {"classes": "more", "dm": "-41.12 %", "gcp": "-6.59 %"}[measure]
        made.append(Claim(f"{claim} than Mondrian", printed, text, verdict(held, len(ours))))
    return made


def write_success(page: Page, found: Found) -> None:
    page.heading("Table 2: success percentages")
    page.text(
        "By how many per cent DM, GCP, CAVG and the errors are below those of the other method, "
        "printed → measured, the mean over k. F-measure and accuracy have "
        "[a page of their own](mondrian_cof_classification.md)."
    )
    rows = [
        [rival]
        + [
            f"{value:.2f} → {success(found, measure, rival)}"
            for measure, value in zip(MEASURES, printed, strict=True)
        ]
        for rival, printed in TABLE_2.items()
    ]
    page.rows(["against", "DM", "GCP", "CAVG", *QUERIES], rows)


def write_queries(con, page: Page, found: Found) -> None:
    page.heading("Figure 7: query error")
    page.template("queries")
    for query in QUERIES:
        cells = (
            "SELECT k, name, spread(error, 3) AS cell FROM answered "
            f"WHERE mode = 'literal' AND query = '{query}' GROUP BY ALL"
        )
        page.text(f"{query}, as the paper reads it:")
        page.table(measured.pivoted(con, cells, "k", NAMES))
        series = measured.series(found[query])
        page.chart(query.lower(), f"{query}: relative error", "k", "relative error", series)
    page.text("The same queries by `mode := 'estimate'`, mean over k:")
    cells = (
        "SELECT query, name, format('{:.3f}', avg(error)) AS cell FROM answered "
        "WHERE mode = 'estimate' GROUP BY ALL"
    )
    page.table(measured.pivoted(con, cells, "query", NAMES))


def main() -> None:
    given = asked.read("The experiments of M-COF.", [5, 10, 25, 50, 100])
    began, con = time.monotonic(), measured.connect()
    people = tables.adult(con, given.data, given.rows)
    tables.hierarchies(con, given.data)
    tables.selected(con, "adult_mixed", "adult", [*tables.MIXED, "income"], "")
    run(con, given)
    found = gather(con)
    page = Page(given.into, "mondrian_cof", "M-COF: Mondrian with outlier detection")
    page.template("setting", people=people, mixed=", ".join(tables.MIXED), seeds=given.seeds)
    page.claims(claims(found))
    page.heading("Findings")
    page.template("findings")
    write_success(page, found)
    page.heading("Figures 4 to 6: classes and information loss")
    for measure, title, figure, digits in FIGURES:
        page.text(f"{title} (figure {figure}):" if figure != "–" else f"{title}:")
        page.table(measured.by_k(con, "Adult", measure, NAMES, digits))
        page.chart(measure, title, "k", measure, measured.series(found[measure]))
    write_queries(con, page, found)
    page.text(
        f"Made by `examples/papers/mondrian_cof.py` in {time.monotonic() - began:.0f} s, on two "
        "cores that other programs used too."
    )
    page.write()


if __name__ == "__main__":
    main()
