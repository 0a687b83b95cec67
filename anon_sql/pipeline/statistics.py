"""Run single steps of a release and compute their statistics, for the SQL building blocks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.common_parameters import SeriesState, Transparent
from anon_sql.core.parameters import declare
from anon_sql.methods.full_domain import lattice_nodes
from anon_sql.methods.gower import ranges
from anon_sql.methods.outliers import cof_score
from anon_sql.methods.suppressed_rows import loss_of
from anon_sql.pipeline.compute import labelled
from anon_sql.pipeline.partition import (
    Prepared,
    classes_and_nodes,
    in_source_order,
    legal_partition,
    prepare,
)
from anon_sql.pipeline.request import Request, Source

for _name in ("rayden", "mondrian_cof", "dop", "sdka"):
    declare(f"{_name}_stats", of=_name, without=("series", Transparent))
declare("anonymize_stats", of="anonymize", without=("series", Transparent, "bin_width"))
declare("lattice", of="full_domain", without=("like", "bin_width", SeriesState))


@dataclass(frozen=True)
class ComputedRelease:
    """A release, for statistics; arrays are in canonical order.

    class_of: int32[n], the classes of the method, -1 for rows that it suppressed.
    suppressed: bool[n], rows that are suppressed in the release, shown or left out.
    stats: those of the method.
    """

    prepared: Prepared
    class_of: npt.NDArray[np.int32]
    suppressed: npt.NDArray[np.bool_]
    stats: Mapping[str, float]

    @property
    def rows(self) -> int:
        return len(self.class_of)

    @property
    def suppressed_rows(self) -> int:
        return int(self.suppressed.sum())

    @property
    def unrecovered(self) -> int:
        """Return the number of rows that the method itself suppressed."""
        return int((self.suppressed & (self.class_of < 0)).sum())

    @property
    def classes(self) -> int:
        """Return the number of classes with rows that are not suppressed."""
        return len(np.unique(self.class_of[~self.suppressed]))


def computed_release(
    source: Source, request: Request, paths: pa.StructArray | None
) -> ComputedRelease:
    """Return the release of the source's rows. Raises AnonError as ``release`` does."""
    prepared = prepare(source, request, paths)
    partition = legal_partition(prepared.table, prepared.call, request.method)
    suppressed = labelled(prepared, partition).suppressed[prepared.table.order]
    return ComputedRelease(prepared, partition.classes, suppressed, partition.stats)


STATS = ("partitions", "detected", "recovered", "returned", "suppressed")


def class_ids(
    source: Source, request: Request, paths: pa.StructArray | None
) -> npt.NDArray[np.int32]:
    """Return the class of each row, int32[n], in source order."""
    prepared = prepare(source, request, paths)
    partition = legal_partition(prepared.table, prepared.call, request.method)
    return classes_and_nodes(prepared.table, partition)[0]


def cof(
    source: Source, request: Request, paths: pa.StructArray | None
) -> tuple[pa.Array, pa.Array]:
    """Return the clustering outlier factor and the outlier flag of each row, in source order.

    Both are NULL for a row without a class.
    """
    prepared = prepare(source, request, paths)
    scored = cof_score(prepared.table, prepared.call)
    scores, outlier = (in_source_order(prepared.table, values) for values in scored)
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
    counted = computed_release(source, request, paths)
    counts |= {name: int(counted.stats.get(name, 0)) for name in STATS}
    counts["returned"] = counts["detected"] - counts["recovered"] - counted.unrecovered
    counts["suppressed"] = counted.suppressed_rows
    return {
        **counts,
        "orr": counts["recovered"] / counts["detected"] if counts["detected"] else None,
        "suppression_rate": counted.suppressed_rows / counted.rows,
        "classes": counted.classes,
    }


def dop_stats(
    source: Source | None, request: Request, paths: pa.StructArray | None
) -> dict[str, Any]:
    """Return the statistics of DOP by column name; for an empty table those that are not 0."""
    if source is None:
        return {"eps": None, "min_samples": None, "suppression_rate": 0.0}
    counted = computed_release(source, request, paths)
    return {
        "eps": None,
        "min_samples": None,
        **counted.stats,
        "suppressed": counted.suppressed_rows,
        "suppression_rate": counted.suppressed_rows / counted.rows,
        "classes": counted.classes,
    }


def lattice(
    source: Source | None, request: Request, paths: pa.StructArray | None
) -> list[dict[str, Any]]:
    """Return the nodes that full-domain generalization judges; source: None for no rows."""
    if source is None:
        return []
    prepared = prepare(source, request, paths)
    return lattice_nodes(prepared.table, prepared.call)


def gower_ranges(source: Source, request: Request) -> dict[str, float | None]:
    """Return the largest minus the smallest value by column name; None for text."""
    return ranges(prepare(source, request, None).table)


COUNT_COLUMNS = ("allowed", "costly", "suppressed", "refused", "classes")
LOSS_COLUMNS = ("gcp_without", "gcp", "saved", "gcp_of_rest")
REASONS = {
    "no limit": "no suppression_limit",
    "none": "no row costs its class more than a suppressed row loses",
    "refused": "the rows to suppress are no legal class of their own",
    "no gain": "the other rows would not lose less by as much as the suppressed rows lose",
    "starred": "their class is * in every quasi-identifier",
    "saves": "they cost their classes more than they lose suppressed",
}


def anonymize_stats(
    source: Source | None, request: Request, paths: pa.StructArray | None
) -> dict[str, Any]:
    """Return the columns of ``anonymize_stats`` by name; losses are NULL without rows.

    source: None for an empty table.
    """
    row: dict[str, Any] = {"rows": 0, "suppression_rate": None, "reason": None}
    row |= dict.fromkeys(COUNT_COLUMNS, 0) | dict.fromkeys(LOSS_COLUMNS)
    if source is None:
        return row
    counted = computed_release(source, request, paths)
    table, workers = counted.prepared.table, counted.prepared.call.workers
    classes, kept = counted.class_of, ~counted.suppressed
    if request.suppressed == "drop":
        classes = np.where(kept, classes, np.int32(-1))
    cells, kept_rows = float(table.model.weight.sum()), int(kept.sum())
    lost = loss_of(table, classes, workers)
    kept_loss = loss_of(table.only(kept), classes[kept], workers)
    before = counted.stats.get("before", lost)
    row |= {
        "rows": table.rows,
        "allowed": int(counted.stats.get("most", 0)),
        "costly": int(counted.stats.get("costly", 0)),
        "suppressed": counted.suppressed_rows,
        "suppression_rate": counted.suppressed_rows / table.rows,
        "gcp_without": before / (table.rows * cells),
        "gcp": lost / (table.rows * cells),
        "saved": (before - lost) / (table.rows * cells),
        "gcp_of_rest": kept_loss / (kept_rows * cells) if kept_rows else None,
        "refused": int(counted.stats.get("refused", 0)),
        "classes": counted.classes,
    }
    return {**row, "reason": REASONS[_reason(row, counted.unrecovered)]}


def _reason(row: dict[str, Any], costly_rows: int) -> str:
    """Return the key of the reason in REASONS.

    costly_rows: rows that were suppressed for their cost.
    """
    if row["suppressed"]:
        return "saves" if costly_rows else "starred"
    if not row["allowed"]:
        return "no limit"
    if row["refused"]:
        return "refused"
    return "no gain" if row["costly"] else "none"
