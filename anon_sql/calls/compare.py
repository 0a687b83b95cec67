"""Method by method and k by k on one table: how long each takes and what its release is worth."""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql import interrupt, methods
from anon_sql.arrow import first, lists
from anon_sql.calls.binding import HELPER
from anon_sql.calls.class_measures import Measured
from anon_sql.calls.comparable import Methods, Settings, Sizes, size
from anon_sql.calls.partition import prepare, refuse_identifying, run
from anon_sql.errors import AnonError
from anon_sql.methods import Call, method
from anon_sql.progress import Progress
from anon_sql.protecting import protect
from anon_sql.registry import udf
from anon_sql.table import QuasiTable
from anon_sql.workers import Workers

_TYPES = {
    "method": "VARCHAR",
    "k": "BIGINT",
    "seconds": "DOUBLE",
    **dict.fromkeys(("rows", "suppressed", "classes", "smallest_class", "dm", "dm_star"), "BIGINT"),
    **dict.fromkeys(("cavg", "gcp", "suppression_rate"), "DOUBLE"),
    "note": "VARCHAR",
}
_ARROW = {"VARCHAR": pa.string(), "BIGINT": pa.int64(), "DOUBLE": pa.float64()}
_ROW = pa.struct([(name, _ARROW[kind]) for name, kind in _TYPES.items()])
_NOTHING = {  # what utility says of a table without rows
    **dict.fromkeys(("rows", "suppressed", "classes", "dm", "dm_star"), 0),
    "seconds": 0.0,
}
FEW = 50  # rows that a method is loaded with
MOST = 2**31 - 1  # the largest k that a plan holds


@udf("__anon_compare", f"STRUCT({', '.join(f'{n} {t}' for n, t in _TYPES.items())})[]")
def compare(plans: Any, packed: Any, given: Any, trees: Any) -> pa.Array:
    """A row for each method and k, in the order asked for."""
    plan, columns = first(plans), lists(packed)
    rows = _rows(plan, columns, first(given), lists(trees))
    return pa.array([rows], pa.list_(_ROW))


@method("compare", methods=Methods(), ks=Sizes(), options=Settings())
def _no_release(*_: Any) -> None:
    """compare makes no release of its own; filed so that a plan checks its parameters."""


def _rows(
    plan: Mapping[str, Any],
    columns: Mapping[str, pa.Array | None],
    given: Mapping[str, Any],
    trees: Mapping[str, Any],
) -> list[dict[str, Any]]:
    if columns[HELPER + "hash"] is None:
        chosen = methods.find("compare").options
        names = chosen["methods"].read("compare", "methods", given["methods"])
        ks = chosen["ks"].read("compare", "ks", given["ks"])
        return [_row(name, k, lambda *_: _NOTHING) for name in names or comparable() for k in ks]
    mark = HELPER + "mark_"
    loose = {name: values for name, values in columns.items() if name.startswith(mark)}
    kept = {name: values for name, values in columns.items() if name not in loose}
    table, call, _ = prepare(plan, kept, given, trees)
    types = dict(zip(plan["quasi"], plan["types"], strict=True))
    known = {name: values for name, values in kept.items() if values is not None}
    measured = Measured(table, types, known)
    table.points, table.model, measured.points  # noqa: B018 - made before any clock starts

    def made(name: str, k: int) -> dict[str, Any]:
        refuse_identifying(name, min(k, MOST), loose)
        constraint = call.constraint.at(min(k, MOST))
        constraint.require(name, table.rows)
        workers = Workers(name, plan["threads"])
        one = Call(name, constraint, call.seed, workers, call.options["options"][name])
        started = time.perf_counter()
        classes, nodes = run(table, one, methods.find(name), "keep")
        seconds = time.perf_counter() - started
        return {"seconds": seconds, **measured.measures(classes, nodes, k)}

    fitting = [name for name, facts in comparable().items() if facts.fits(table)]
    names = call.options["methods"] or fitting
    pairs = [(n, k) for n in names for k in call.options["ks"]]
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
    """The methods whose releases have the table's rows, by name."""
    filed = {name: known.facts for name, known in methods.releases().items()}
    return {name: facts for name, facts in filed.items() if facts and not facts.perturbative}


def _load(name: str, table: QuasiTable, call: Call) -> None:
    """Run a method on a few rows, so that no clock counts the compiling of its kernels."""
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
    """The row of a method and k; NULLs and a note where it raises AnonError. Ctrl-C ends all."""
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
