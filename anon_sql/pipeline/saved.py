"""Say what the suppression of rows by ``anonymize`` saves, and why these rows were chosen."""

from typing import Any

import pyarrow as pa

from anon_sql.methods.parts.suppressing import loss_of
from anon_sql.pipeline.partition import prepare, settled
from anon_sql.pipeline.request import Request
from anon_sql.pipeline.source import Source

COUNTS = ("allowed", "costly", "suppressed", "refused", "classes")
LOSSES = ("gcp_without", "gcp", "saved", "gcp_of_rest")
REASONS = {
    "no limit": "no suppression_limit",
    "none": "no row costs its class more than a suppressed row loses",
    "refused": "the rows to suppress are no legal class of their own",
    "no gain": "the other rows would not lose less by as much as the suppressed rows lose",
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
    prepared = prepare(source, request, paths)
    table, call = prepared.table, prepared.call
    made = settled(table, call, prepared.method, request.suppressed)
    starred, cells = int((made.classes < 0).sum()), float(table.model.weight.sum())
    lost = loss_of(table, made.classes, call.workers)
    before, rest = made.stats.get("before", lost), table.rows - starred
    row |= {
        "rows": table.rows,
        "allowed": int(made.stats.get("most", 0)),
        "costly": int(made.stats.get("costly", 0)),
        "suppressed": starred,
        "suppression_rate": starred / table.rows,
        "gcp_without": before / (table.rows * cells),
        "gcp": lost / (table.rows * cells),
        "saved": (before - lost) / (table.rows * cells),
        "gcp_of_rest": (lost - starred * cells) / (rest * cells) if rest else None,
        "refused": int(made.stats.get("refused", 0)),
        "classes": int(made.classes.max()) + 1,
    }
    return {**row, "reason": REASONS[_reason(row)]}


def _reason(row: dict[str, Any]) -> str:
    """Return the key of the reason in REASONS."""
    if row["suppressed"]:
        return "saves"
    if not row["allowed"]:
        return "no limit"
    if row["refused"]:
        return "refused"
    return "no gain" if row["costly"] else "none"
