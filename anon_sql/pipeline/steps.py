"""Run single steps of a release and compute their statistics, for the SQL building blocks."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.pipeline.partition import as_came, partition, prepare
from anon_sql.pipeline.reported_release import made
from anon_sql.pipeline.request import Request
from anon_sql.pipeline.source import Source

STATS = ("partitions", "detected", "recovered", "returned", "suppressed")


def class_ids(
    source: Source, request: Request, paths: pa.StructArray | None
) -> npt.NDArray[np.int32]:
    """Return the class of each row, int32[n], in source order."""
    return partition(prepare(source, request, paths), request.suppressed)[0]


def cof(
    source: Source, request: Request, paths: pa.StructArray | None
) -> tuple[pa.Array, pa.Array]:
    """Return the clustering outlier factor and the outlier flag of each row, in source order.

    Both are NULL for a row without a class.
    """
    prepared = prepare(source, request, paths)
    scores, outlier = (
        as_came(prepared.table, values)
        for values in prepared.method.run(prepared.table, prepared.call)
    )
    unclassed = np.isnan(scores)
    return pa.array(scores, mask=unclassed), pa.array(outlier, mask=unclassed)


def recovery_stats(
    source: Source | None, request: Request, paths: pa.StructArray | None
) -> dict[str, Any]:
    """Return the outlier recovery statistics of RAYDEN or M-COF, by column name.

    source: None for an empty table. ``returned`` counts the detected rows that are neither
    recovered nor suppressed as outliers.
    """
    counts = dict.fromkeys(STATS, 0)
    if source is None:
        return {**counts, "orr": None, "suppression_rate": 0.0, "classes": 0}
    found = made(source, request, paths)
    counts |= {name: int(found.stats.get(name, 0)) for name in STATS}
    counts["returned"] = counts["detected"] - counts["recovered"] - found.unrecovered
    counts["suppressed"] = found.suppressed
    return {
        **counts,
        "orr": counts["recovered"] / counts["detected"] if counts["detected"] else None,
        "suppression_rate": found.suppressed / found.rows,
        "classes": found.classes,
    }


def dop_stats(
    source: Source | None, request: Request, paths: pa.StructArray | None
) -> dict[str, Any]:
    """Return the statistics of DOP by column name; for an empty table those that are not 0."""
    if source is None:
        return {"eps": None, "min_samples": None, "suppression_rate": 0.0}
    found = made(source, request, paths)
    return {
        "eps": None,
        "min_samples": None,
        **found.stats,
        "suppressed": found.suppressed,
        "suppression_rate": found.suppressed / found.rows,
        "classes": found.classes,
    }


def lattice(
    source: Source | None, request: Request, paths: pa.StructArray | None
) -> list[dict[str, Any]]:
    """Return the nodes that full-domain generalization looks at; source: None for no rows."""
    if source is None:
        return []
    prepared = prepare(source, request, paths)
    found: list[dict[str, Any]] = prepared.method.run(prepared.table, prepared.call)
    return found


def gower_ranges(source: Source, request: Request) -> dict[str, float | None]:
    """Return the largest minus the smallest value by column name; None for text."""
    prepared = prepare(source, request, None)
    found: dict[str, float | None] = prepared.method.run(prepared.table, prepared.call)
    return found
