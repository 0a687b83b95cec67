"""Draw the charts of a report, and write the numbers of each figure as CSV, each chart as SVG.

All of it is what the report says: no file holds a value that the page or its JSON does not show.
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from itertools import pairwise
from math import nan
from pathlib import Path
from typing import Any

from anon_sql.apps.report import charts
from anon_sql.apps.verdict.criteria import CRITERIA
from anon_sql.apps.verdict.recommended import LOSS
from anon_sql.errors import AnonError
from anon_sql.hosts.files import atomic_file

LONGEST = 40  # characters of a column in the name of a file
_ROWS = {  # by name of a file, the part of a report that is a list of flat rows
    "attacks": "attacks",
    "class_sizes": "class_sizes",
    "loss": "loss",
    "query_errors": "query_errors",
    "risk_levels": "risk_levels",
}
_PAIRED = {"distribution": "distributions", "sensitive": "sensitive_distributions"}
_NAMES = (
    *(*_ROWS, "checks", "correlations", "correlations_raw", "correlations_released", "criteria"),
    "disclosed",
    *("levels", "measures", "misrepresented", "other_k", "verdict", "verdict_figures"),
)
_OWN = re.compile(rf"({'|'.join(_NAMES)}|({'|'.join(_PAIRED)})_\d+_[\w-]*)\.(csv|svg)")

Rows = Sequence[Mapping[str, Any]]


def named(kind: str, distributions: Rows) -> dict[str, Mapping[str, Any]]:
    """Return distributions by the name of their files: kind, number and column."""
    columns = (re.sub(r"[^\w-]+", "_", each["column"])[:LONGEST] for each in distributions)
    names = (f"{kind}_{number:02}_{column}" for number, column in enumerate(columns, 1))
    return dict(zip(names, distributions, strict=True))


def draw(report: Mapping[str, Any]) -> dict[str, str]:
    """Return the charts of a report as SVG, by name. report: the result of ``facts.described``."""
    steps, levels, lost = size_steps(report["class_sizes"]), report["risk_levels"], report["loss"]
    drawn = {
        "loss": charts.loss([each["attribute"] for each in lost], [each["ncp"] for each in lost]),
        **dict(_matrices(report["correlations"])),
    }
    if levels:  # which a release of a series has not
        drawn["risk_levels"] = charts.risks(
            [f"1 in {each['one_in']}" for each in levels], [each["share"] for each in levels]
        )
    if steps:
        drawn["class_sizes"] = charts.sizes(*zip(*steps, strict=True))
    for kind, part in _PAIRED.items():
        for name, each in named(kind, report[part]).items():
            drawn[name] = charts.pair(
                each["labels"], each["raw"], each["released"], each["ordered"]
            )
    return drawn


def _matrices(correlations: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Give a chart of the correlations before and one of those after; none for a single pair."""
    columns = correlations["columns"]
    if len(columns) < 3:
        return
    place = {name: position for position, name in enumerate(columns)}
    for table in ("raw", "released"):
        matrix = [[1.0 if a == b else nan for b in columns] for a in columns]
        for pair in correlations["pairs"]:
            a, b = place[pair["first"]], place[pair["second"]]
            matrix[a][b] = matrix[b][a] = nan if pair[table] is None else pair[table]
        yield f"correlations_{table}", charts.correlation(columns, matrix)


def tables(report: Mapping[str, Any]) -> dict[str, str]:
    """Return the numbers of a report as CSV, by name. report: the result of ``facts.described``."""
    rows_by_name: dict[str, Rows] = {name: report[part] for name, part in _ROWS.items()}
    rows_by_name |= {
        "checks": _fields(report["checks"], "property", "required", "found", "passed", "meaning"),
        "correlations": report["correlations"]["pairs"],
        "criteria": [
            {"criterion": name, **_without(row, "sql")}
            for name in CRITERIA
            for row in report["criteria"][name]["rows"]
        ],
        "disclosed": report["summary"]["disclosed"],
        "levels": [{**each["levels"], **_without(each, "levels")} for each in report["levels"]],
        "measures": [
            {"measure": name, "value": value}
            for name, value in {**report["utility"], **report["risk"]}.items()
        ],
        "misrepresented": [each for each in report["worst_groups"] if each is not None],
        "other_k": list(map(_tried, report["recommended"]["tried"])),
        "verdict": _fields(
            report["verdict"]["reasons"], "level", "rule", "column", "found", "text", "accepted"
        ),
        "verdict_figures": _fields(report["verdict"]["figures"], "name", "column", "value"),
    }
    for kind, part in _PAIRED.items():
        rows_by_name |= {name: _bins(each) for name, each in named(kind, report[part]).items()}
    return {name: _csv(rows) for name, rows in rows_by_name.items() if rows}


def _fields(rows: Rows, *names: str) -> list[dict[str, Any]]:
    return [{name: row[name] for name in names} for row in rows]


def _without(row: Mapping[str, Any], left_out: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != left_out}


def _tried(each: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a release that was tried would lose as one row."""
    figures = {figure["name"]: figure["value"] for figure in each["figures"]}
    return {
        **{name: each[name] for name in ("k", "l", "classes")},
        **{name: figures.get(name) for name in LOSS},
        "limits": ", ".join(f"{reason['level']} {reason['rule']}" for reason in each["reasons"]),
        "note": each["note"],
    }


def _bins(each: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows = zip(each["labels"], each["raw"], each["released"], strict=True)
    return [{"value": label, "raw": raw, "released": released} for label, raw, released in rows]


def _csv(rows: Rows) -> str:
    """Return rows as CSV; None is an empty field, and a number has all its digits."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(rows[0])
    writer.writerows([_cell(value) for value in row.values()] for row in rows)
    return out.getvalue()


def _cell(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def check_folder(function: str, folder: Path, overwrite: bool) -> None:
    """Raise AnonError if figures must not be written to a folder."""
    if folder.exists() and not folder.is_dir():
        raise AnonError(function, "--figures must be a folder", f"the file '{folder}'")
    if not folder.parent.is_dir():
        rule = "--figures must be in a directory that exists"
        raise AnonError(function, rule, f"'{folder}'")
    if folder.exists() and any(folder.iterdir()) and not overwrite:
        hint = "--overwrite replaces the figures in it"
        raise AnonError(function, "--figures must be a new or an empty folder", f"'{folder}'", hint)


def write(folder: Path, report: Mapping[str, Any], drawn: Mapping[str, str]) -> int:
    """Write the figures of a report, and remove those of an earlier one. Return how many files."""
    texts = {f"{name}.csv": text for name, text in tables(report).items()}
    texts |= {f"{name}.svg": svg for name, svg in drawn.items()}
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        with atomic_file(folder / name) as temporary:
            temporary.write_text(text, "utf-8")
    for path in folder.iterdir():
        if _OWN.fullmatch(path.name) and path.name not in texts:
            path.unlink()
    return len(texts)


SINGLE = 20  # sizes between the least and the largest up to which each is a step


def size_steps(sizes: Sequence[Mapping[str, int]]) -> list[tuple[str, int]]:
    """Return a label and the number of classes for each step from the least to the largest size.

    sizes: ``rows`` of a class and ``classes`` of that size, ascending.
    """
    if not sizes:
        return []
    least, most = sizes[0]["rows"], sizes[-1]["rows"]
    starts = list(range(least, most + 2))
    if most - least >= SINGLE:
        starts = [1]
        while starts[-1] <= most:
            starts.append(_after(starts[-1]))
        starts = [start for start in starts if _after(start) > least]
    steps = []
    for first, after in pairwise(starts):
        classes = sum(each["classes"] for each in sizes if first <= each["rows"] < after)
        label = f"{first:,}" if after == first + 1 else f"{first:,} to {after - 1:,}"
        steps.append((label, classes))
    return steps


def _after(start: int) -> int:
    """Return the start of the next logarithmic step: 1, 2, 3, 5, 10, 20, 50, 100, …"""
    if start < 5:
        return {1: 2, 2: 3, 3: 5}[start]
    return start * 5 // 2 if str(start).startswith("2") else start * 2
