"""Run methods on one table for several k, and measure the time and the release of each."""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from anon_sql.core.parameters import declare, param
from anon_sql.measures.classes import MeasuredTable
from anon_sql.measures.sweep import (
    Measure,
    Methods,
    MethodSettings,
    SizeList,
    SweepTrial,
    SweptTable,
    sweep,
)
from anon_sql.methods.method import COMMON
from anon_sql.pipeline.partition import classes_and_nodes
from anon_sql.pipeline.request import Request, Source

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
    "iloss": 0.0,
}


@dataclass(frozen=True)
class CompareMethods:
    """The parameters of ``compare``."""

    methods: Any = param(
        None,
        Methods(),
        "release methods to compare",
        null="all that fit the table and add no rows",
    )
    ks: Any = param((5, 10, 25, 50, 100), SizeList(), "values of k to try")
    options: Any = param(
        None,
        MethodSettings(),
        "parameters of individual methods, such as {'rayden': {'cut': 'aligned'}}; all others "
        "keep their defaults",
    )


declare(
    "compare",
    *COMMON,
    CompareMethods,
    without=("k", "format", "suppressed"),
    notes={"weights": "They apply to gcp and to the methods that take weights."},
)


def compare(
    source: Source | None, request: Request, paths: pa.StructArray | None
) -> list[dict[str, Any]]:
    """Return a row for each method and k, in the order asked for; see ``ROW``."""
    chosen: CompareMethods = request.options
    return sweep(source, request, paths, _measure, _NOTHING, methods=chosen.methods, ks=chosen.ks)


def _measure(swept: SweptTable) -> Measure:
    """Return what measures the classes of a release as ``utility`` measures their labels."""
    rows = swept.prepared
    table = rows.table
    measured = MeasuredTable(table, swept.request.quasi, rows.source.quasi, rows.cuts)
    measured.points  # noqa: B018 - made before any clock starts

    def measure(trial: SweepTrial) -> dict[str, Any]:
        classes, nodes = classes_and_nodes(table, trial.partition)
        return measured.measures(classes, nodes, trial.prepared.request.k)

    return measure
