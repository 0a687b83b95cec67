"""Render templates of a report with jinja2, everything escaped, and the first page, for who signs.

The first page stands alone too, with an annex of what it has no room for.
"""

from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

from anon_sql.apps.cli.console import visible
from anon_sql.apps.manifest import LEVELS, is_required
from anon_sql.apps.report.criteria import signed
from anon_sql.apps.verdict.criteria import CRITERIA
from anon_sql.apps.verdict.of_recipe import stated
from anon_sql.apps.verdict.words import per_thousand, percent
from anon_sql.hosts.statements import PLACES, review_in_words
from anon_sql.version import VERSION

_TEMPLATES = files("anon_sql") / "apps" / "report" / "templates"
_STATES = ("failed", "undecided", "passed", "not required")
# what fits on the first page: items of a list, and letters of a text
FITS = {
    "reasons": 4, "assumptions": 2, "accepted": 3, "sensitive": 3, "costly": 3, "undecided": 6,
    "words": 76, "statement": 160, "recipient": 130, "review": 80, "sentence": 310, "names": 85,
    "steps": 50, "name": 40, "column": 24, "command": 200, "sql": 200,
}  # fmt: skip


def of_summary(report: Mapping[str, Any]) -> str:
    """Return the first page of a report alone. report: the result of ``facts.of_summary``."""
    return render("signed.html", **first_page(report))


def first_page(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the template of the first page names."""
    checks = [{**each, "state": _state(each)} for each in report["checks"]]
    return {
        "facts": report,
        "most": FITS,
        "accepted": [f"{rule}: {why}" for rule, why in report["summary"]["accepted"].items()],
        "costly": sorted(
            (each for each in report["loss"] if each["ncp"]), key=lambda each: -each["ncp"]
        )[: FITS["costly"]],
        "checks": sorted(checks, key=lambda each: _STATES.index(each["state"])),
        "counts": Counter(each["state"] for each in checks),
        "undecided": [each["property"] for each in checks if each["state"] == "undecided"],
        "promised": promised(report["required"]),
        "stated": stated(report["statement"]),
        "places": PLACES,
        "review": review_in_words(report["statement"]),
        "overflow": overflow(report),
    }


def promised(required: Mapping[str, Any]) -> list[str]:
    """Return what a release promises, in words; a level that asks for nothing is no promise."""
    kinds = {"l": required.get("l_kind"), "beta": required.get("beta_kind")}
    promises = []
    for name in LEVELS:
        if is_required(name, required.get(name)):
            kind = kinds.get(name)
            of_kind = f" ({kind})" if kind not in (None, "distinct", "enhanced") else ""
            promises.append(f"{name} = {figure(required[name])}{of_kind}")
    return promises


def overflow(report: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return what the first page has no room for, by heading; the annex says that and no more."""
    summary, reasons = report["summary"], report["verdict"]["reasons"]
    statement, columns = report["statement"], summary["columns"]
    texts: dict[str, tuple[list[str], int]] = {
        "Reasons of the verdict": ([each["text"] for each in reasons], FITS["reasons"]),
        "Assumptions": (list(statement["assumptions"]), FITS["assumptions"]),
        "Accepted": (
            [f"{rule}: {why}" for rule, why in summary["accepted"].items()],
            FITS["accepted"],
        ),
    }
    by_heading = {
        name: shown for name, (shown, most) in texts.items() if _fit(shown, most) != shown
    }
    whole = {name: statement[name] or "" for name in ("purpose", "recipient")}
    whole["recommended k"] = report["recommended"]["why"]
    whole["review"] = review_in_words(statement)
    by_heading |= {
        name.capitalize(): [text]
        for name, text in whole.items()
        if len(text) > FITS.get(name, FITS["statement"])
    }
    sentences = {name.capitalize(): report["criteria"][name]["sentence"] for name in CRITERIA}
    by_heading |= {n: [text] for n, text in sentences.items() if len(text) > FITS["sentence"]}
    lists = {f"Columns: {role.replace('_', ' ')}": names for role, names in columns.items()}
    lists |= {
        "Preparation: columns removed": summary["prepared"]["removed"],
        "Preparation: how the file was read": summary["prepared"]["read"],
        "Preparation: types of the text": summary["prepared"]["converted"],
    }
    for name, names in lists.items():
        room = FITS["steps" if name.startswith("Preparation") else "names"]
        if len(", ".join(names)) > room + 50 * (name == "Columns: generalized"):
            by_heading[name] = [", ".join(names)]
    if len(summary["again"]["command"] or "") > FITS["command"]:
        by_heading["Command"] = [summary["again"]["command"]]
    if len(summary["check"]["sql"]) > FITS["sql"]:
        by_heading["SQL that checks the file"] = [summary["check"]["sql"] + ";"]
    return by_heading


def _state(check: Mapping[str, Any]) -> str:
    """Return the state of a check, one of ``_STATES``."""
    if check["passed"] is not None:
        return "passed" if check["passed"] else "failed"
    return "not required" if check["required"] is None else "undecided"


def _cut(text: str, most: int) -> str:
    """Return a text of at most so many letters; the annex has the whole."""
    return text if len(text) <= most else f"{text[:most].rsplit(' ', 1)[0].rstrip()} … (annex)"


def _short(name: str, most: int) -> str:
    """Return a name of at most so many letters."""
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _fit(texts: Sequence[str], most: int) -> list[str]:
    """Return at most so many texts, each cut to its share of the letters that all have."""
    shown = list(texts[:most])
    return [_cut(each, FITS["words"] * most // len(shown)) for each in shown]


def figure(value: object) -> str:
    """Return a number with separators, a dash for None."""
    if value is None:
        return "-"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return visible(str(value))
    if float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.3g}"


def address(svg: str) -> str:
    """Return a chart as an address that loads nothing."""
    return "data:image/svg+xml;base64," + b64encode(svg.encode()).decode("ascii")


def environment(templates: Traversable) -> Environment:
    """Return what renders the templates of a folder: all is escaped, and all names are known."""
    return Environment(
        loader=FunctionLoader(lambda file: (templates / file).read_text("utf-8")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render(template: str, /, **context: Any) -> str:
    """Return a page. context: what its template names."""
    templates = environment(_TEMPLATES)
    templates.filters |= {"figure": figure, "visible": visible}
    templates.filters |= {"cut": _cut, "fit": _fit, "short": _short}
    templates.filters |= {"address": address, "percent": percent, "per_thousand": per_thousand}
    templates.filters |= {"signed": signed}
    return str(templates.get_template(template).render(version=VERSION, levels=LEVELS, **context))
