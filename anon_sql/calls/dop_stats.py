"""What DOP finds on a table, in numbers."""

from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql.arrow import first, lists
from anon_sql.calls.binding import HELPER
from anon_sql.calls.partition import prepare, settled
from anon_sql.registry import udf

_ROW = pa.struct(
    [
        ("eps", pa.float64()),
        ("min_samples", pa.int64()),
        ("clusters", pa.int64()),
        ("noise", pa.int64()),
        ("joined", pa.int64()),
        ("splits", pa.int64()),
        ("suppressed", pa.int64()),
        ("suppression_rate", pa.float64()),
        ("classes", pa.int64()),
    ]
)


@udf(
    "__anon_dop_stats",
    "STRUCT(eps DOUBLE, min_samples BIGINT, clusters BIGINT, noise BIGINT, joined BIGINT, "
    "splits BIGINT, suppressed BIGINT, suppression_rate DOUBLE, classes BIGINT)",
)
def dop_stats(plans: Any, packed: Any, given: Any, trees: Any) -> pa.Array:
    """One row; of an empty table all is 0 but eps and min_samples, which are NULL."""
    columns = lists(packed)
    row: dict[str, Any] = dict.fromkeys(_ROW.names, 0)
    if columns[HELPER + "hash"] is None:
        return pa.array([{**row, "eps": None, "min_samples": None, "suppression_rate": 0.0}], _ROW)
    plan = first(plans)
    table, call, method = prepare(plan, columns, first(given), lists(trees))
    made = settled(table, call, method, plan["suppressed"])
    suppressed = int((made.classes < 0).sum())
    row.update(
        made.stats,
        suppressed=suppressed,
        suppression_rate=suppressed / table.rows,
        classes=len(np.unique(made.classes[made.classes >= 0])),
    )
    return pa.array([row], _ROW)
