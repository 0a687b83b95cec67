"""Render pages of facts, charts and text with jinja2, everything escaped."""

from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

from anon_sql.apps.console import MEANING, visible
from anon_sql.apps.report import charts, distributions
from anon_sql.apps.report.distributions import Distribution
from anon_sql.version import VERSION

_TEMPLATES = files("anon_sql") / "apps" / "report" / "templates"
_STATE = {True: "passed", False: "failed", None: "unknown"}
CURVES = (("gcp", False), ("cavg", False), ("suppression_rate", False), ("seconds", True))


def of_release(
    facts: Mapping[str, Any],
    asked: Mapping[str, Any],
    manifest: Mapping[str, Any] | None,
    names: Mapping[str, str],
) -> str:
    """Return the page of a release. names: of the files, raw and released; manifest: or None."""
    checks = [{**check, "state": _STATE[check["passed"]]} for check in facts["checks"]]
    sizes = distributions.of_sizes(facts["sizes"]) if facts["sizes"] else None
    loss = facts["loss"]
    return _render(
        "report.html",
        files=names,
        asked=asked,
        manifest=manifest,
        checks=checks,
        states=[(state, sum(c["state"] == state for c in checks)) for state in _STATE.values()],
        utility=facts["utility"],
        meaning=MEANING,
        risk=facts["risk"],
        errors=facts["errors"],
        without_role=facts["without_role"],
        loss=loss,
        loss_chart=charts.loss([x["attribute"] for x in loss], [x["ncp"] for x in loss]),
        sizes=sizes,
        sizes_chart=charts.sizes(*sizes) if sizes else None,
        quasi=[_drawn(each) for each in facts["quasi"]],
        sensitive=[_drawn(each) for each in facts["sensitive"]],
    )


def of_sweep(rows: Sequence[Mapping[str, Any]], asked: Mapping[str, Any], name: str) -> str:
    """Return the page of a comparison. rows: as compare returns them."""
    made = [row for row in rows if row["note"] is None]
    drawn = [
        (measure, MEANING.get(measure, "time that the method takes"), _curves(made, measure, log))
        for measure, log in CURVES
    ]
    return _render("sweep.html", name=name, asked=asked, rows=rows, made=made, charts=drawn)


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


def _drawn(each: Distribution) -> dict[str, Any]:
    chart = charts.pair(each.labels, each.raw, each.released, each.ordered)
    rows = list(zip(each.labels, each.raw, each.released, strict=True))
    return {"column": each.column, "chart": chart, "rows": rows}


def _figure(value: object) -> str:
    """Return a number with separators, a dash for None."""
    if value is None:
        return "-"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return visible(str(value))
    if float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.3g}"


def _render(template: str, /, **context: Any) -> str:
    environment = Environment(
        loader=FunctionLoader(lambda file: (_TEMPLATES / file).read_text("utf-8")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"figure": _figure, "visible": visible}
    return str(environment.get_template(template).render(version=VERSION, **context))
