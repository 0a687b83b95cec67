"""The experiments of M-COF (Kara and Eyüpoğlu 2023), with the printed figures.

python examples/papers/mondrian_cof.py DATA, the folder of adult.parquet and hierarchies/adult.
"""

import asked
import duckdb
import measured
import released
import tables
from imitated import COF_UNGUARDED, COF_UNGUARDED_OWN, PLAIN
from page import Claim, Page
from released import Columns, Method
from verdicts import changes, every, exposed, lower, lowest, most, span

PROPOSED, MONDRIAN, HALF = "M-COF", "Mondrian", "M-COF, α = 0"
METHODS = [
    Method(PROPOSED, "mondrian_cof", distance="codes", unrecovered="suppress"),
    Method("M-COF, ours", "mondrian_cof"),
    Method(HALF, "mondrian_cof", distance="codes", unrecovered="suppress", alpha=0),
    COF_UNGUARDED,
    COF_UNGUARDED_OWN,
    PLAIN,
    Method(MONDRIAN, "mondrian"),
    Method("Basic Mondrian", "basic_mondrian"),
    Method("Top-down", "top_down", drawn=True),
    Method("k-member", "k_member", drawn=True),
    Method("OKA", "oka", drawn=True),
    Method("Datafly", "datafly"),
    Method("anonymize", "anonymize"),
]
NAMES = [method.name for method in METHODS]
OTHERS = ["Basic Mondrian", "Top-down", "k-member", "OKA", "Datafly"]
RIVALS = [MONDRIAN, *OTHERS]
FIGURES = [
    ("classes", "equivalence classes", "–", 0),
    ("dm", "DM, sum of squared class sizes", "4", 0),
    ("cavg", "CAVG, mean class size / k", "5", 3),
    ("gcp", "GCP, share of information lost", "6", 4),
]
FIRST = ["dm", "cavg", "gcp"]
QUERIES = ["Q1", "Q2", "Q3", "Q4"]
CLUSTER = (  # of both methods that the paper cites for it
    -6.11,
    26.41,
    -5.33,
    89.92,
    58.69,
    32.82,
    32.82,
)
MEASURES = ["dm", "gcp", "cavg", *QUERIES]
TABLE_2 = {  # per cent, of each of these
    MONDRIAN: (41.12, 6.59, 27.03, 27.99, 56.59, 30.74, 30.74),
    "Basic Mondrian": (67.27, 56.13, 46.36, 56.84, 77.60, 51.00, 59.63),
    "Top-down": (24.57, 47.78, 12.96, 88.08, 72.41, 38.34, 59.63),
    "k-member": CLUSTER,
    "OKA": CLUSTER,
    "Datafly": (99.46, 82.90, 87.37, 91.63, 85.09, 59.63, 59.63),
}
SAID = {  # the quoted claim to be the best, and its quantifier
    "dm": ("DM: “the best results for almost all k values”", most),
    "cavg": ("CAVG: “outperforms … at all parameter values”", every),
    "gcp": ("GCP: “better than other algorithms for all k parameters”", every),
    **{query: (f"{query}: “outperformed all other algorithms”", every) for query in QUERIES},
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
                    [method.name, seed, k, released.below(con, k, shared)],
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
    measures = [measure for measure, *_ in FIGURES]
    found = {measure: measured.means(con, "Adult", measure) for measure in [*measures, "below"]}
    for name, query, k, error in con.execute(
        "SELECT name, query, k, avg(error) FROM answered WHERE mode = 'literal' GROUP BY ALL "
        "ORDER BY k, min(rowid)"
    ).fetchall():
        found.setdefault(query, {}).setdefault(name, {})[k] = error
    return found


def claims(found: Found) -> list[Claim]:
    unguarded, plain = COF_UNGUARDED.name, PLAIN.name
    shares = found["below"][unguarded]
    printed = dict(zip(MEASURES, TABLE_2[MONDRIAN], strict=True))
    made = []
    for measure in FIRST:
        of = found[measure]
        made.append(
            Claim(
                f"{measure.upper()} below Mondrian's (table 2)",
                f"-{printed[measure]} %",
                exposed(lower(of[unguarded], of[plain], -printed[measure]), shares),
                lower(of[PROPOSED], of[MONDRIAN], -printed[measure]),
                headline=True,
            )
        )
    for at, measure in enumerate(MEASURES):
        said, quantifier = SAID[measure]
        of = found[measure]
        least = min(printed[at] for printed in TABLE_2.values())
        told = f"at least {least} % ahead" if least > 0 else f"{-least} % behind Cluster"
        made.append(
            Claim(
                said,
                f"table 2: {told}",
                exposed(lowest(of, unguarded, [plain, *OTHERS], quantifier), shares),
                lowest(of, PROPOSED, RIVALS, quantifier),
                headline=measure in FIRST,
            )
        )
    of = found["classes"]
    made.append(
        Claim(
            "“more equivalence classes than the Mondrian algorithm”",
            "–",
            exposed(lower(of[unguarded], of[plain], sign=-1), shares),
            lower(of[PROPOSED], of[MONDRIAN], sign=-1),
        )
    )
    return made


def success(found: Found, measure: str, ours: str, rival: str) -> str:
    """Return by how many per cent a measure is below the rival's, mean over k."""
    falls = changes(found[measure][ours], found[measure][rival], sign=-1).values()
    return f"{sum(falls) / len(falls):.2f}" if falls else "–"


def write_success(page: Page, found: Found) -> None:
    page.heading("Table 2: success percentages")
    page.template("success")
    rows = []
    for rival, printed in TABLE_2.items():
        kind = PLAIN.name if rival == MONDRIAN else rival
        cells = (
            f"{value:.2f} → {success(found, measure, PROPOSED, rival)} / "
            f"{success(found, measure, COF_UNGUARDED.name, kind)}"
            for measure, value in zip(MEASURES, printed, strict=True)
        )
        rows.append([rival, *cells])
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


def write(con, given) -> None:
    found = gather(con)
    [(people,)] = con.execute("SELECT count(*) FROM adult").fetchall()
    page = Page(given.into, "mondrian_cof", "M-COF: Mondrian with outlier detection")
    page.template("setting", people=people, mixed=", ".join(tables.MIXED), seeds=given.seeds)
    page.claims(claims(found))
    page.heading("Findings")
    pairs = {
        "kind": (COF_UNGUARDED.name, PLAIN.name),
        "bare": (COF_UNGUARDED_OWN.name, MONDRIAN),
        "own": (PROPOSED, MONDRIAN),
        "half": (HALF, MONDRIAN),
    }
    spans = {
        f"{name}_{measure}": span(*(found[measure][of] for of in both))
        for name, both in pairs.items()
        for measure in FIRST
    }
    shares = [100 * share for share in found["below"][COF_UNGUARDED.name].values()]
    page.template("findings", exposed=f"{min(shares):.0f} to {max(shares):.0f} %", **spans)
    page.heading("Classes of fewer than k rows, % of all classes")
    page.table(measured.by_k(con, "Adult", "100 * below", NAMES[:7], 1))
    write_success(page, found)
    page.heading("Figures 4 to 6: classes and information loss")
    for measure, title, figure, digits in FIGURES:
        page.text(f"{title} (figure {figure}):" if figure != "–" else f"{title}:")
        page.table(measured.by_k(con, "Adult", measure, NAMES, digits))
        page.chart(measure, title, "k", measure, measured.series(found[measure]))
    write_queries(con, page, found)
    page.write()


if __name__ == "__main__":
    given = asked.read("The experiments of M-COF.", [5, 10, 25, 50, 100])
    write(measured.once(given, run), given)
