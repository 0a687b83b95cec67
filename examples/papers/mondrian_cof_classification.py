"""The classification of M-COF (Kara and Eyüpoğlu 2023), with the printed figures.

python examples/papers/mondrian_cof_classification.py DATA, as mondrian_cof.py.
"""

import itertools
import time

import asked
import duckdb
import measured
import tables
from mondrian_cof import METHODS, PROPOSED, columns, prepare
from page import Claim, Page, verdict

TAUGHT = [method for method in METHODS if method.name not in ("M-COF, ours", "M-COF, α = 0", "OKA")]
NAMES = ["raw table", *(method.name for method in TAUGHT)]
MODELS = ["knn", "svm", "random_forest", "naive_bayes"]
FIGURES = {(10, "accuracy"): 8, (50, "accuracy"): 9, (10, "f_measure"): 10, (50, "f_measure"): 11}
TABLE_2 = {  # per cent, of F-measure and accuracy
    "Mondrian": (-0.78, -1.84),
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
        "accuracy DOUBLE, f_measure DOUBLE)"
    )
    for k, method in itertools.product(given.ks, TAUGHT):
        shared = columns(method)
        baseline = "raw" if (method, k) == (TAUGHT[0], given.ks[0]) else "none"
        for seed in range(1, given.seeds + 1):
            if seed == 1 or method.drawn:
                method.release(con, "adult_mixed", k, seed, shared, ", sensitive := 'income'")
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


def success(found: Found, rival: str) -> str:
    """Return by how many per cent the method's measure is above the rival's, mean of all cases."""
    gains = [
        100 * (ours / found[rival][case] - 1)
        for case, ours in found[PROPOSED].items()
        if found[rival][case]
    ]
    return f"{sum(gains) / len(gains):.2f}" if gains else "–"


def claims(measures: dict[str, Found]) -> list[Claim]:
    made = []
    for measure, found in measures.items():
        label, ours = measure.replace("f_", "F-"), found[PROPOSED]
        gaps = [100 * (at - found["raw table"][case]) for case, at in ours.items()]
        made.append(
            Claim(
                f"{label} near that of the raw table",
                "close to the baseline",
                f"{min(gaps):+.1f} to {max(gaps):+.1f} points over models and k",
                f"{verdict(sum(gap >= -2 for gap in gaps), len(gaps))} (at most 2 points below)",
            )
        )
        worst = sum(
            min(TABLE_2, key=lambda rival: found[rival][case]) == "Datafly" for case in ours
        )
        made.append(
            Claim(
                f"Datafly has the worst {label}",
                "in every figure",
                f"M-COF against it: {success(found, 'Datafly')} %",
                verdict(worst, len(ours)),
            )
        )
        best = sum(all(at > found[rival][case] for rival in TABLE_2) for case, at in ours.items())
        made.append(
            Claim(
                f"best {label} of all compared",
                "in the text; not in table 2",
                f"against Mondrian: {success(found, 'Mondrian')} %",
                verdict(best, len(ours)),
            )
        )
    return made


def main() -> None:
    given = asked.read("What M-COF prints on classification.", [10, 50])
    began, con = time.monotonic(), measured.connect()
    people = tables.adult(con, given.data, given.rows)
    tables.hierarchies(con, given.data)
    tables.selected(con, "adult_mixed", "adult", [*tables.MIXED, "income"], "")
    learn(con, given.ks, given.seeds)
    measures = {measure: gather(con, measure) for measure in ("accuracy", "f_measure")}
    page = Page(given.into, "mondrian_cof_classification", "M-COF: classification")
    page.template("setting", people=people, seeds=given.seeds)
    page.claims(claims(measures))
    page.heading("Findings")
    page.template("findings")
    page.heading("Table 2: success percentages")
    page.text("How far M-COF is above the other method, per cent; printed → measured.")
    page.rows(
        ["against", "F-measure", "accuracy"],
        [
            [
                rival,
                f"{printed[0]:.2f} → {success(measures['f_measure'], rival)}",
                f"{printed[1]:.2f} → {success(measures['accuracy'], rival)}",
            ]
            for rival, printed in TABLE_2.items()
        ],
    )
    page.heading("Figures 8 to 11")
    for (k, measure), figure in FIGURES.items():
        if k not in given.ks:
            continue
        title = f"{measure.replace('f_', 'F-')}, k = {k}"
        cells = (
            f"SELECT model, name, spread({measure}, 3) AS cell FROM learned WHERE k = {k} "
            "GROUP BY ALL"
        )
        page.text(f"Figure {figure}: {title}.")
        page.table(measured.pivoted(con, cells, "model", NAMES))
        series = {
            name: [
                (model, mean) for (at, model), mean in measures[measure][name].items() if at == k
            ]
            for name in NAMES
        }
        page.chart(f"{measure}_{k}", title, "model", measure, series)
    page.text(
        f"Made by `examples/papers/mondrian_cof_classification.py` in "
        f"{time.monotonic() - began:.0f} s, on two cores that other programs used too."
    )
    page.write()


if __name__ == "__main__":
    main()
