"""Run methods on one table for several k, and measure the time and the release of each."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql.core import running
from anon_sql.core.parameters import declare, param
from anon_sql.core.running import Progress, Workers
from anon_sql.core.table import QuasiTable
from anon_sql.errors import AnonError
from anon_sql.measures.classes import Measured
from anon_sql.measures.pair import Methods, Settings, Sizes, size
from anon_sql.methods.legal_classes import protect
from anon_sql.methods.method import COMMON, Call, Method, release_methods
from anon_sql.pipeline.partition import placed, prepare, require_strata, settled
from anon_sql.pipeline.request import MOST, Request, Source

_COUNTS = ("rows", "suppressed", "classes", "smallest_class", "dm", "dm_star")
ROW = pa.struct(
    [
        ("method", pa.string()),
        ("k", pa.int64()),
        ("seconds", pa.float64()),
        *((name, pa.int64()) for name in _COUNTS),
        *((name, pa.float64()) for name in ("cavg", "gcp", "iloss", "suppression_rate")),
        ("note", pa.string()),
    ]
)
_NOTHING = {  # what utility says of a table without rows
    **dict.fromkeys(("rows", "suppressed", "classes", "dm", "dm_star"), 0),
    "seconds": 0.0,
    "iloss": 0.0,
}
FEW = 50  # rows that a method is loaded with


@dataclass(frozen=True)
class Compared:
    """The parameters of ``compare``."""

    methods: Any = param(
        None,
        Methods(),
        "names of release methods",
        null="all that fit the table and add no rows to it",
    )
    ks: Any = param(
        (5, 10, 25, 50, 100), Sizes(), "smallest sizes of an equivalence class, in rows"
    )
    options: Any = param(
        None,
        Settings(),
        "parameters of single methods, such as {'rayden': {'cut': 'aligned'}}; all others have "
        "their defaults",
    )


declare(
    "compare",
    *COMMON,
    Compared,
    without=("k", "format", "suppressed"),
    notes={"weights": "They count for the methods that take weights, and in gcp."},
)


def compare(
    source: Source | None, request: Request, paths: pa.StructArray | None
) -> list[dict[str, Any]]:
    """Return a row for each method and k, in the order asked for; see ``ROW``."""
    chosen: Compared = request.options
    if source is None:
        names = chosen.methods or comparable()
        return [_row(name, k, lambda *_: _NOTHING) for name in names for k in chosen.ks]
    prepared = prepare(source, request, paths)
    table, call = prepared.table, prepared.call
    measured = Measured(table, request.quasi, source.quasi)
    table.points, table.model, measured.points  # noqa: B018 - made before any clock starts

    def made(name: str, k: int) -> dict[str, Any]:
        constraint = call.constraint.at(min(k, MOST))
        constraint.require(name, table.rows)
        workers = Workers(name, request.threads)
        options = chosen.options[name]
        one = replace(call, function=name, constraint=constraint, workers=workers, options=options)
        require_strata(one, table.rows)
        started = time.perf_counter()
        classes, nodes = placed(table, settled(table, one, release_methods()[name], "keep"))
        seconds = time.perf_counter() - started
        return {"seconds": seconds, **measured.measures(classes, nodes, k)}

    fitting = [name for name, known in comparable().items() if known.fits(table)]
    names = chosen.methods or fitting
    pairs = [(n, k) for n in names for k in chosen.ks]
    rows = []
    with Progress("compare", len(pairs)) as progress:
        for name in names:
            progress.note = f"loads {name}"
            if name in comparable():
                load(table, replace(call, function=name, options=chosen.options[name]))
        for name, k in pairs:
            progress.note = f"{name}, k = {k}"
            progress.advance(0)
            rows.append(_row(name, k, made))
            progress.advance(1)
    return rows


def comparable() -> dict[str, Method]:
    """Return the methods whose releases have the table's rows, by name."""
    return {name: known for name, known in release_methods().items() if not known.perturbative}


def load(table: QuasiTable, call: Call[Any]) -> None:
    """Run a method on a few rows, so that the time of compiling its kernels is not measured."""
    part = np.arange(table.rows) < FEW
    constraint = call.constraint.only(part).at(2)
    try:
        running.check(call.function)
        few = table.only(part)
        constraint.require(call.function, few.rows)  # methods rely on it
        part_of = replace(call, constraint=constraint, strata=None)
        found = release_methods()[call.function].run(few, part_of)
        protect(few, found.classes, constraint, call.workers)
    except AnonError:
        running.check(call.function)


def noted(
    function: str, row: Mapping[str, Any], made: Callable[[], Mapping[str, Any]]
) -> dict[str, Any]:
    """Return a row with what ``made`` adds to it, or with a note where that raises AnonError.

    Raises AnonError where the user has asked to stop.
    """
    try:
        running.check(function)
        found = made()
        return {**row, **found}
    except AnonError as error:
        running.check(function)
        return {**row, "note": str(error)}


def require_rows_kept(function: str, name: str) -> None:
    """Raise AnonError for a method whose releases have other rows than the table."""
    if name not in comparable():
        raise AnonError(
            name,
            f"{function} measures releases that add no rows",
            "a perturbative method",
            "sdka_stats says what its release loses",
        )


def _row(name: str, k: Any, made: Callable[[str, int], Mapping[str, Any]]) -> dict[str, Any]:
    """Return the row of a method and k, with NULLs and a note where it raises AnonError."""
    row: dict[str, Any] = {"method": name}

    def measured() -> Mapping[str, Any]:
        whole = size(name, k)
        row["k"] = whole if whole < 2**63 else None
        require_rows_kept("compare", name)
        return made(name, whole)

    return noted("compare", row, measured)
