"""Render the pages of ``report`` and ``sweep`` with jinja2, everything escaped."""

from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.resources import files
from math import nan
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

from anon_sql.apps.cli.console import MEANING, visible
from anon_sql.apps.manifest import LEVELS
from anon_sql.apps.report import charts
from anon_sql.apps.report.facts import LEARNED, size_steps
from anon_sql.apps.verdict.words import per_thousand, percent
from anon_sql.version import VERSION

_TEMPLATES = files("anon_sql") / "apps" / "report" / "templates"
_STATES = ("failed", "undecided", "passed", "not required")
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
# what fits on the first page: items of a list, and letters of a text
FITS = {
    "reasons": 4, "assumptions": 2, "accepted": 3, "sensitive": 4, "costly": 4,
    "words": 150, "names": 85, "name": 60, "column": 24, "command": 330,
}  # fmt: skip
CURVES = (("gcp", False), ("cavg", False), ("suppression_rate", False), ("seconds", True))


def of_release(said: Mapping[str, Any]) -> str:
    """Return the page of a release. said: the result of ``facts.described``."""
    steps = size_steps(said["class_sizes"])
    levels = said["risk_levels"]
    checks = [{**each, "state": _state(each)} for each in said["checks"]]
    worst = [each for each in said["worst_groups"] if each is not None]
    return render(
        "report.html",
        said=said,
        meaning=MEANING,
        risk_names=RISK_NAMES,
        steps=steps,
        most=FITS,
        accepted=[f"{rule}: {why}" for rule, why in said["summary"]["accepted"].items()],
        costly=sorted(
            (each for each in said["loss"] if each["ncp"]), key=lambda each: -each["ncp"]
        )[: FITS["costly"]],
        worst=sorted(worst, key=lambda each: -each["error"]),
        checks=sorted(checks, key=lambda each: _STATES.index(each["state"])),
        counts=Counter(each["state"] for each in checks),
        sizes_chart=charts.sizes(*zip(*steps, strict=True)) if steps else None,
        risk_chart=charts.risks(
            [f"1 in {each['one_in']}" for each in levels], [each["share"] for each in levels]
        ),
        loss_chart=charts.loss(
            [each["attribute"] for each in said["loss"]], [each["ncp"] for each in said["loss"]]
        ),
        correlation_charts=_matrices(said["correlations"]),
        pairs=sorted(said["correlations"]["pairs"], key=_change, reverse=True)[:MOST_PAIRS],
        quasi=[_with_chart(each) for each in said["distributions"]],
        sensitive=[_with_chart(each) for each in said["sensitive_distributions"]],
    )


def _state(check: Mapping[str, Any]) -> str:
    """Return the state of a check, one of ``_STATES``."""
    if check["passed"] is not None:
        return "passed" if check["passed"] else "failed"
    return "not required" if check["required"] is None else "undecided"


def _change(pair: Mapping[str, Any]) -> float:
    """Return how much a coefficient changed; the most where only one is known."""
    if pair["raw"] is None or pair["released"] is None:
        return 0.0 if pair["raw"] is pair["released"] else 3.0
    return float(abs(pair["raw"] - pair["released"]))


def _matrices(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return a chart of the correlations before and one of those after; none for a single pair."""
    columns = found["columns"]
    if len(columns) < 3:
        return []
    place = {name: at for at, name in enumerate(columns)}
    both = []
    for table in ("raw", "released"):
        matrix = [[1.0 if a == b else nan for b in columns] for a in columns]
        for pair in found["pairs"]:
            a, b = place[pair["first"]], place[pair["second"]]
            matrix[a][b] = matrix[b][a] = nan if pair[table] is None else pair[table]
        both.append((table, charts.correlation(columns, matrix)))
    return both


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
    attacks = any(row["linked"] is not None for row in made)
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
    """Return a chart of loss and risk, or None if a measure is unknown or nobody is at risk."""
    known = [row for row in rows if row["gcp"] is not None and row[risk] is not None]
    series = []
    for method in dict.fromkeys(row["method"] for row in known):
        own = sorted((row for row in known if row["method"] == method), key=lambda row: row["k"])
        series.append((method, *([row[name] for row in own] for name in ("k", "gcp", risk))))
    at_risk = any(row[risk] for row in known)
    return charts.risk_and_loss(series, AXES[risk]) if at_risk else None


def _curves(rows: Sequence[Mapping[str, Any]], measure: str, log: bool) -> str | None:
    """Return a chart of a measure, or None if all values are 0 or unknown."""
    methods = dict.fromkeys(row["method"] for row in rows)
    series = []
    for method in methods:
        points = [(row["k"], row[measure]) for row in rows if row["method"] == method]
        known = [(k, value) for k, value in points if value is not None]
        if any(value for _, value in known):
            series.append((method, [k for k, _ in known], [value for _, value in known]))
    return charts.curves(series, measure, log=log) if series else None


def _with_chart(each: Mapping[str, Any]) -> dict[str, Any]:
    labels, raw, released = each["labels"], each["raw"], each["released"]
    chart = charts.pair(labels, raw, released, each["ordered"])
    return {
        "column": each["column"],
        "chart": chart,
        "rows": list(zip(labels, raw, released, strict=True)),
    }


def _cut(text: str, most: int) -> str:
    """Return a text of at most so many letters; the annex has the whole."""
    return text if len(text) <= most else f"{text[:most].rstrip()} … (annex)"


def _short(name: str, most: int) -> str:
    """Return a name of at most so many letters."""
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _fit(texts: Sequence[str], most: int) -> list[str]:
    """Return at most so many texts, each cut to its share of the letters that all have."""
    shown = texts[:most]
    return [_cut(each, FITS["words"] * most // len(shown)) for each in shown]


def _figure(value: object) -> str:
    """Return a number with separators, a dash for None."""
    if value is None:
        return "-"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return visible(str(value))
    if float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.3g}"


def render(template: str, /, **context: Any) -> str:
    """Return a page of a template."""
    environment = Environment(
        loader=FunctionLoader(lambda file: (_TEMPLATES / file).read_text("utf-8")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"figure": _figure, "visible": visible}
    environment.filters |= {"cut": _cut, "fit": _fit, "short": _short}
    environment.filters |= {"percent": percent, "per_thousand": per_thousand}
    return str(environment.get_template(template).render(version=VERSION, levels=LEVELS, **context))
