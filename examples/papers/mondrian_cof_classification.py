"""The classification of M-COF (Kara and Eyüpoğlu 2023), with the printed figures.

python examples/papers/mondrian_cof_classification.py DATA, as mondrian_cof.py.
"""

import itertools

import asked
import duckdb
import measured
import released
from imitated import COF_UNGUARDED, PLAIN
from mondrian_cof import METHODS, MONDRIAN, PROPOSED, columns, prepare
from page import Claim, Page
from verdicts import NOTHING, Verdict, changes, every, exposed, lowest

UNTAUGHT = "M-COF, ours", "M-COF, α = 0", "M-COF, no guard, on Mondrian", "OKA"
TAUGHT = [method for method in METHODS if method.name not in UNTAUGHT]
NAMES = ["raw table", *(method.name for method in TAUGHT)]
MODELS = ["knn", "svm", "random_forest", "naive_bayes"]
FIGURES = {(10, "accuracy"): 8, (50, "accuracy"): 9, (10, "f_measure"): 10, (50, "f_measure"): 11}
TABLE_2 = {  # per cent, of F-measure and accuracy
    MONDRIAN: (-0.78, -1.84),
    "Basic Mondrian": (-5.87, -7.28),
    "Top-down": (-3.37, -4.06),
    "k-member": (-3.49, -3.40),
    "Datafly": (11.79, 3.53),
}
Found = dict[str, dict[tuple[int, str], float]]


def learn(con: duckdb.DuckDBPyConnection, given) -> None:
    """Measure each release into ``learned``; a seed sets the split, and a release with randomness.

    The raw table, which has no k, is measured once and stored under each k.
    """
    prepare(con, given)
    con.execute(
        "CREATE TABLE learned (name VARCHAR, k INTEGER, model VARCHAR, seed INTEGER, "
        "accuracy DOUBLE, f_measure DOUBLE); "
        "CREATE TABLE shares (name VARCHAR, k INTEGER, below DOUBLE)"
    )
    for k, method in itertools.product(given.ks, TAUGHT):
        shared = columns(method)
        baseline = "raw" if (method, k) == (TAUGHT[0], given.ks[0]) else "none"
        for seed in range(1, given.seeds + 1):
            if seed == 1 or method.drawn:
                method.release(con, "adult_mixed", k, seed, shared, ", sensitive := 'income'")
                share = [method.name, k, released.below(con, k, shared)]
                con.execute("INSERT INTO shares VALUES (?, ?, ?)", share)
            for model in MODELS:
                con.execute(
                    f"INSERT INTO learned SELECT if(data = 'raw', 'raw table', ?), "
                    f"unnest(if(data = 'raw', {given.ks}, [{k}])), '{model}', {seed}, accuracy, "
                    "f_measure FROM classification('adult_mixed', 'released', "
                    f"target := 'income', model := '{model}', seed := {seed}, "
                    f"baseline := '{baseline}', {shared})",
                    [method.name],
                )


def gather(con, measure: str) -> Found:
    """Return name → (k, model) → mean."""
    found: Found = {}
    for name, k, model, mean in con.execute(
        f"SELECT name, k, model, avg({measure}) FROM learned GROUP BY ALL ORDER BY ALL"
    ).fetchall():
        found.setdefault(name, {})[k, model] = mean
    return found


def success(found: Found, ours: str, rival: str) -> str:
    """Return by how many per cent a measure is above the rival's, mean of all cases."""
    gains = changes(found[ours], found[rival]).values()
    return f"{sum(gains) / len(gains):.2f}" if gains else "–"


def near_raw(found: Found, ours: str) -> Verdict:
    """Judge that a measure is at most two points below that of the raw table."""
    gaps = [100 * (at - found["raw table"][case]) for case, at in found[ours].items()]
    text = f"{min(gaps):+.1f} to {max(gaps):+.1f} points over models and k"
    return counted(Verdict(text, every([-2 - gap for gap in gaps]), "–"))


def counted(told: Verdict) -> Verdict:
    """Return a verdict that counts cases, of a model and a k, instead of k."""
    return told._replace(direction=told.direction.replace(" k", " cases"))


def claims(measures: dict[str, Found], shares: dict[int, float]) -> list[Claim]:
    """Return the claims; ``shares`` are those of the classes below k without a guard, by k."""
    unguarded, others = COF_UNGUARDED.name, [name for name in TABLE_2 if name != MONDRIAN]
    made = []
    for at, (measure, found) in enumerate(measures.items()):
        label = measure.replace("f_", "F-")
        first = [PLAIN.name, *others], [MONDRIAN, *others]
        kind, own = (
            counted(lowest(found, ours, rivals, sign=-1))
            for ours, rivals in zip((unguarded, PROPOSED), first, strict=True)
        )
        made.append(
            Claim(
                f"{label}: “more successful results … compared to other algorithms”",
                f"table 2: {TABLE_2[MONDRIAN][1 - at]} % (Mondrian)",
                exposed(kind, shares),
                own,
                headline=True,
            )
        )
        made.append(
            Claim(
                f"{label} “close to the baseline”, the raw table (at most 2 points below)",
                "–",
                exposed(near_raw(found, unguarded), shares),
                near_raw(found, PROPOSED),
            )
        )
        rivals = [name for name in TABLE_2 if name != "Datafly"]
        made.append(
            Claim(
                f"Datafly has the worst {label} “among the algorithms”",
                "–",
                NOTHING,
                counted(lowest(found, "Datafly", rivals)),
            )
        )
    return made


def write(con, given) -> None:
    measures = {measure: gather(con, measure) for measure in ("accuracy", "f_measure")}
    [(people,)] = con.execute("SELECT count(*) FROM adult").fetchall()
    page = Page(given.into, "mondrian_cof_classification", "M-COF: classification")
    count = "SELECT count(DISTINCT seed) FROM learned WHERE name = ?"
    [(few,)] = con.execute(count, [PLAIN.name]).fetchall()
    page.template("setting", people=people, seeds=given.seeds, few=few)
    bare = con.execute(
        "SELECT k, avg(below) FROM shares WHERE name = ? GROUP BY k", [COF_UNGUARDED.name]
    )
    page.claims(claims(measures, dict(bare.fetchall())))
    page.heading("Findings")
    unguarded = {
        measure: success(found, COF_UNGUARDED.name, PLAIN.name)
        for measure, found in measures.items()
    }
    page.template("findings", **unguarded)
    page.heading("Table 2: success percentages")
    page.text("How far M-COF is above the other method, per cent; printed → measured.")
    page.rows(
        ["against", "F-measure", "accuracy"],
        [
            [
                rival,
                f"{printed[0]:.2f} → {success(measures['f_measure'], PROPOSED, rival)}",
                f"{printed[1]:.2f} → {success(measures['accuracy'], PROPOSED, rival)}",
            ]
            for rival, printed in TABLE_2.items()
        ],
    )
    page.heading("Figures 8 to 11")
    for (k, measure), figure in FIGURES.items():
        if k in given.ks:
            write_figure(con, page, measures[measure], k, measure, figure)
    page.write()


def write_figure(con, page: Page, found: Found, k: int, measure: str, figure: int) -> None:
    title = f"{measure.replace('f_', 'F-')}, k = {k}"
    cells = (
        f"SELECT model, name, spread({measure}, 3) AS cell FROM learned WHERE k = {k} GROUP BY ALL"
    )
    page.text(f"Figure {figure}: {title}.")
    page.table(measured.pivoted(con, cells, "model", NAMES))
    series = {
        name: [(model, mean) for (at, model), mean in found[name].items() if at == k]
        for name in NAMES
    }
    page.chart(f"{measure}_{k}", title, "model", measure, series)


if __name__ == "__main__":
    given = asked.read("What M-COF prints on classification.", [10, 50])
    write(measured.once(given, learn), given)
