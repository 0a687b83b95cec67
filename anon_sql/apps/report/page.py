"""Draw the pages of ``report`` and ``sweep``: what they show, beside the first page, and charts."""

from collections.abc import Mapping, Sequence
from typing import Any

from anon_sql.apps.cli.console import MEANING
from anon_sql.apps.report import charts
from anon_sql.apps.report.facts import LEARNED
from anon_sql.apps.report.figure_files import named
from anon_sql.apps.report.rendering import first_page, render

RISKS = {
    "risk": "highest re-identification risk, 1 / rows of the smallest group",
    "disclosed": "share of persons whose sensitive value is disclosed (attack_linking)",
}
AXES = {"risk": "highest risk", "disclosed": "share disclosed"}
MOST_PAIRS = 10  # pairs of columns whose correlations are listed
RISK_NAMES = {
    2: "as in groups of one",
    3: "the group has fewer than 3 rows",
    5: "fewer than 5 rows",
    11: "fewer than 11 rows, the threshold .09 of Health Canada and the EMA",
    20: "fewer than 20 rows",
}
CURVES = (("gcp", False), ("cavg", False), ("suppression_rate", False), ("seconds", True))


def of_release(report: Mapping[str, Any], drawn: Mapping[str, str]) -> str:
    """Return the page of a release.

    report: the result of ``facts.described``. drawn: its charts, see ``figure_files.draw``.
    """
    worst = [each for each in report["worst_groups"] if each is not None]
    return render(
        "report.html",
        **first_page(report),
        meaning=MEANING,
        risk_names=RISK_NAMES,
        worst=sorted(worst, key=lambda each: -each["error"]),
        drawn=drawn,
        pairs=sorted(report["correlations"]["pairs"], key=_change, reverse=True)[:MOST_PAIRS],
        quasi=_with_charts("distribution", report["distributions"], drawn),
        sensitive=_with_charts("sensitive", report["sensitive_distributions"], drawn),
    )


def _change(pair: Mapping[str, Any]) -> float:
    """Return how much a coefficient changed; the most where only one is known."""
    if pair["raw"] is None or pair["released"] is None:
        return 0.0 if pair["raw"] is pair["released"] else 3.0
    return float(abs(pair["raw"] - pair["released"]))


def of_sweep(
    rows: Sequence[Mapping[str, Any]],
    request: Mapping[str, Any],
    name: str,
    left_out: Sequence[Mapping[str, str]] = (),
) -> str:
    """Return the page of a comparison.

    rows, left_out: as ``sweep`` and ``left_out`` of ``facts`` return them.
    """
    made = [row for row in rows if row["note"] is None]
    curves = [
        (measure, MEANING.get(measure, "time that the method takes"), _curves(made, measure, log))
        for measure, log in CURVES
    ]
    points = [(meaning, _points(made, measure)) for measure, meaning in RISKS.items()]
    attacks = any(row["reidentified"] is not None for row in made)
    columns = ("k", "seconds", "gcp", "cavg", "classes", "smallest_class", "suppressed", "risk")
    return render(
        "sweep.html",
        name=name,
        request=request,
        rows=rows,
        left_out=left_out,
        made=made,
        points=points,
        charts=curves,
        columns=columns + (LEARNED if attacks else ()),
    )


def _points(rows: Sequence[Mapping[str, Any]], risk: str) -> str | None:
    """Return a chart of loss and risk, or None if a measure is unknown or no one is at risk."""
    measured = [row for row in rows if row["gcp"] is not None and row[risk] is not None]
    series = []
    for method in dict.fromkeys(row["method"] for row in measured):
        of_method = sorted(
            (row for row in measured if row["method"] == method), key=lambda row: row["k"]
        )
        series.append((method, *([row[name] for row in of_method] for name in ("k", "gcp", risk))))
    at_risk = any(row[risk] for row in measured)
    return charts.risk_and_loss(series, AXES[risk]) if at_risk else None


def _curves(rows: Sequence[Mapping[str, Any]], measure: str, log: bool) -> str | None:
    """Return a chart of a measure, or None if all values are 0 or unknown."""
    methods = dict.fromkeys(row["method"] for row in rows)
    series = []
    for method in methods:
        points = [(row["k"], row[measure]) for row in rows if row["method"] == method]
        measured = [(k, value) for k, value in points if value is not None]
        if any(value for _, value in measured):
            series.append((method, [k for k, _ in measured], [value for _, value in measured]))
    return charts.curves(series, measure, log=log) if series else None


def _with_charts(
    kind: str, distributions: Sequence[Mapping[str, Any]], drawn: Mapping[str, str]
) -> list[dict[str, Any]]:
    return [
        {
            "column": each["column"],
            "chart": drawn[name],
            "rows": list(zip(each["labels"], each["raw"], each["released"], strict=True)),
        }
        for name, each in named(kind, distributions).items()
    ]
