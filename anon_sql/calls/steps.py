"""The steps of a release as SQL calls them one by one, and what they say of themselves."""

from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql.arrow import first, lists, one_list, one_struct
from anon_sql.calls.binding import HELPER
from anon_sql.calls.partition import as_came, classify, prepare, settled
from anon_sql.registry import udf

_STATS = ("partitions", "detected", "recovered", "returned", "suppressed")


@udf("__anon_class_ids", "INTEGER[]")
def class_ids(plans: Any, packed: Any, given: Any, trees: Any) -> pa.Array:
    """The class of each row, in the order of the lists."""
    columns = lists(packed)
    if columns[HELPER + "hash"] is None:
        return one_list(None, pa.int32())
    return one_list(classify(first(plans), columns, first(given), lists(trees))[1], pa.int32())


@udf("__anon_cof", "STRUCT(cof DOUBLE[], outlier BOOLEAN[])")
def cof(plans: Any, packed: Any, given: Any, trees: Any) -> pa.Array:
    """COF and outlier flag of each row; both NULL for a row without a class."""
    columns = lists(packed)
    if columns[HELPER + "hash"] is None:
        return one_struct(
            {"cof": one_list(None, pa.float64()), "outlier": one_list(None, pa.bool_())}
        )
    table, call, method = prepare(first(plans), columns, first(given), lists(trees))
    scores, outlier = (as_came(table, values) for values in method.run(table, call))
    classed = np.isnan(scores)
    return one_struct(
        {
            "cof": one_list(pa.array(scores, mask=classed), pa.float64()),
            "outlier": one_list(pa.array(outlier, mask=classed), pa.bool_()),
        }
    )


@udf(
    "__anon_recovery_stats",
    "STRUCT(partitions BIGINT, detected BIGINT, recovered BIGINT, returned BIGINT, "
    "suppressed BIGINT, orr DOUBLE, suppression_rate DOUBLE, classes BIGINT)",
)
def recovery_stats(plans: Any, packed: Any, given: Any, trees: Any) -> pa.Array:
    """What RAYDEN or M-COF finds; suppressed counts rows after the rule that stars need company."""
    columns, found, classes = lists(packed), {}, np.zeros(0, dtype=np.int32)
    if columns[HELPER + "hash"] is not None:
        plan = first(plans)
        table, call, method = prepare(plan, columns, first(given), lists(trees))
        made = settled(table, call, method, plan["suppressed"])
        classes = made.classes
        found = {**made.stats, "suppressed": int((classes < 0).sum())}
    counts = {name: int(found.get(name, 0)) for name in _STATS}
    counts["returned"] = counts["detected"] - counts["recovered"] - counts["suppressed"]
    return pa.array(
        [
            {
                **counts,
                "orr": counts["recovered"] / counts["detected"] if counts["detected"] else None,
                "suppression_rate": counts["suppressed"] / max(len(classes), 1),
                "classes": len(np.unique(classes[classes >= 0])),
            }
        ],
        pa.struct(
            [(name, pa.int64()) for name in _STATS]
            + [("orr", pa.float64()), ("suppression_rate", pa.float64()), ("classes", pa.int64())]
        ),
    )


@udf("__anon_gower_ranges", "MAP(VARCHAR, DOUBLE)")
def gower_ranges(plans: Any, packed: Any) -> pa.Array:
    """Range by column name; NULL for an empty table."""
    columns, kind = lists(packed), pa.map_(pa.string(), pa.float64())
    if columns[HELPER + "hash"] is None:
        return pa.array([None], kind)
    table, call, method = prepare(first(plans), columns, {}, {})
    return pa.array([list(method.run(table, call).items())], kind)
