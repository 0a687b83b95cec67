"""Run methods on one table for several k, and measure the time and the release of each."""

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql import methods
from anon_sql.core import interrupt
from anon_sql.core.progress import Progress
from anon_sql.core.table import QuasiTable
from anon_sql.core.workers import Workers
from anon_sql.errors import AnonError
from anon_sql.measures.class_measures import Measured
from anon_sql.measures.comparable import size
from anon_sql.methods import Call
from anon_sql.methods.parts.protecting import protect
from anon_sql.release.partition import prepare, run
from anon_sql.release.request import MOST, Request
from anon_sql.release.source import Source

_COUNTS = ("rows", "suppressed", "classes", "smallest_class", "dm", "dm_star")
ROW = pa.struct(
    [
        ("method", pa.string()),
        ("k", pa.int64()),
        ("seconds", pa.float64()),
        *((name, pa.int64()) for name in _COUNTS),
        *((name, pa.float64()) for name in ("cavg", "gcp", "suppression_rate")),
        ("note", pa.string()),
    ]
)
_NOTHING = {  # what utility says of a table without rows
    **dict.fromkeys(("rows", "suppressed", "classes", "dm", "dm_star"), 0),
    "seconds": 0.0,
}
FEW = 50  # rows that a method is loaded with


def compare(
    source: Source | None, request: Request, paths: pa.StructArray | None
) -> list[dict[str, Any]]:
    """Return a row for each method and k, in the order asked for; see ``ROW``."""
    chosen = request.options
    if source is None:
        names = chosen["methods"] or comparable()
        return [_row(name, k, lambda *_: _NOTHING) for name in names for k in chosen["ks"]]
    prepared = prepare(source, request, paths)
    table, call = prepared.table, prepared.call
    measured = Measured(table, request.quasi, source.quasi)
    table.points, table.model, measured.points  # noqa: B018 - made before any clock starts

    def made(name: str, k: int) -> dict[str, Any]:
        constraint = call.constraint.at(min(k, MOST))
        constraint.require(name, table.rows)
        workers = Workers(name, request.threads)
        one = Call(name, constraint, call.seed, workers, chosen["options"][name])
        started = time.perf_counter()
        classes, nodes = run(table, one, methods.find(name), "keep")
        seconds = time.perf_counter() - started
        return {"seconds": seconds, **measured.measures(classes, nodes, k)}

    fitting = [name for name, facts in comparable().items() if facts.fits(table)]
    names = chosen["methods"] or fitting
    pairs = [(n, k) for n in names for k in chosen["ks"]]
    rows = []
    with Progress("compare", len(pairs)) as progress:
        for name in names:
            progress.note = f"loads {name}"
            _load(name, table, call)
        for name, k in pairs:
            progress.note = f"{name}, k = {k}"
            progress.advance(0)
            rows.append(_row(name, k, made))
            progress.advance(1)
    return rows


def comparable() -> dict[str, methods.Facts]:
    """Return the methods whose releases have the table's rows, by name."""
    filed = {name: known.facts for name, known in methods.releases().items()}
    return {name: facts for name, facts in filed.items() if facts and not facts.perturbative}


def _load(name: str, table: QuasiTable, call: Call) -> None:
    """Run a method on a few rows, so that the time of compiling its kernels is not measured."""
    if name not in comparable():
        return
    part = np.arange(table.rows) < FEW
    constraint = call.constraint.only(part).at(2)
    one = replace(call, constraint=constraint, options=call.options["options"][name])
    try:
        interrupt.check("compare")
        few = table.only(part)
        found = methods.find(name).run(few, one)
        protect(few, found.classes, constraint, call.workers)
    except AnonError:
        interrupt.check("compare")


def _row(name: str, k: Any, made: Any) -> dict[str, Any]:
    """Return the row of a method and k, with NULLs and a note where it raises AnonError.

    Raises AnonError where the user has asked to stop.
    """
    row: dict[str, Any] = {"method": name}
    try:
        interrupt.check("compare")
        whole = size(name, k)
        row["k"] = whole if whole < 2**63 else None
        if name not in comparable():
            raise AnonError(
                name,
                "compare measures releases that add no rows",
                "a perturbative method",
                "sdka_stats says what its release loses",
            )
        return {**row, **made(name, whole)}
    except AnonError as error:
        interrupt.check("compare")
        return {**row, "note": str(error)}
