"""What SDkA did to a table, for ``sdka_stats``."""

from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql.arrow import first, lists
from anon_sql.calls.binding import HELPER
from anon_sql.calls.class_measures import Measured
from anon_sql.calls.information_loss import information_loss
from anon_sql.calls.partition import as_came, prepare
from anon_sql.registry import udf
from anon_sql.table import read

_WHOLE = ("real_rows", "synthetic_rows", "clusters", "merged", "classes", "smallest_class")
_ROW = pa.struct(
    [
        *((name, pa.int64()) for name in _WHOLE),
        *((name, pa.float64()) for name in ("iloss", "gcp")),
    ]
)


@udf(
    "__anon_sdka_stats",
    f"STRUCT({', '.join(f'{name} BIGINT' for name in _WHOLE)}, iloss DOUBLE, gcp DOUBLE)",
)
def sdka_stats(plans: Any, packed: Any, given: Any, trees: Any) -> pa.Array:
    """Rows, clusters, and the classes and losses of the real rows alone."""
    plan, columns = first(plans), lists(packed)
    if columns[HELPER + "hash"] is None:
        return pa.array([dict.fromkeys(_WHOLE, 0)], _ROW)
    table, call, method = prepare(plan, columns, first(given), lists(trees))
    found = method.run(table, call)
    real = np.ones(table.rows, np.bool_) if call.real is None else as_came(table, call.real)
    known = {n: v.filter(pa.array(real)) for n, v in columns.items() if v is not None}
    types = dict(zip(plan["quasi"], plan["types"], strict=True))
    hashes = known[HELPER + "hash"]
    own = read(plan["function"], types, known, hashes, call.workers, lists(trees))
    classes, nodes = (as_came(table, values)[real] for values in (found.classes, found.nodes))
    measured = Measured(own, types, known).measures(classes, nodes, plan["k"])
    row = {
        "real_rows": own.rows,
        "synthetic_rows": table.rows - own.rows,
        **{name: int(found.stats[name]) for name in ("clusters", "merged")},
        **{name: measured[name] for name in ("classes", "smallest_class", "gcp")},
        "iloss": information_loss(own, classes, nodes),
    }
    return pa.array([row], _ROW)
