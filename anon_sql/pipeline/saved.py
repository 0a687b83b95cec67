"""Say what the suppression of rows by ``anonymize`` saves, and why these rows were chosen."""

from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql.methods.parts.suppressing import loss_of
from anon_sql.pipeline.reported_release import made
from anon_sql.pipeline.request import Request
from anon_sql.pipeline.source import Source

COUNTS = ("allowed", "costly", "suppressed", "refused", "classes")
LOSSES = ("gcp_without", "gcp", "saved", "gcp_of_rest")
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
    row |= dict.fromkeys(COUNTS, 0) | dict.fromkeys(LOSSES)
    if source is None:
        return row
    found = made(source, request, paths)
    table, workers = found.prepared.table, found.prepared.call.workers
    classes, kept = found.class_of, ~found.starred
    if request.suppressed == "drop":
        classes = np.where(kept, classes, np.int32(-1))
    cells, rest = float(table.model.weight.sum()), int(kept.sum())
    lost = loss_of(table, classes, workers)
    shown = loss_of(table.only(kept), classes[kept], workers)
    before = found.stats.get("before", lost)
    row |= {
        "rows": table.rows,
        "allowed": int(found.stats.get("most", 0)),
        "costly": int(found.stats.get("costly", 0)),
        "suppressed": found.suppressed,
        "suppression_rate": found.suppressed / table.rows,
        "gcp_without": before / (table.rows * cells),
        "gcp": lost / (table.rows * cells),
        "saved": (before - lost) / (table.rows * cells),
        "gcp_of_rest": shown / (rest * cells) if rest else None,
        "refused": int(found.stats.get("refused", 0)),
        "classes": found.classes,
    }
    return {**row, "reason": REASONS[_reason(row, found.unrecovered)]}


def _reason(row: dict[str, Any], chosen: int) -> str:
    """Return the key of the reason in REASONS; chosen: rows that were suppressed for their cost."""
    if row["suppressed"]:
        return "saves" if chosen else "starred"
    if not row["allowed"]:
        return "no limit"
    if row["refused"]:
        return "refused"
    return "no gain" if row["costly"] else "none"
