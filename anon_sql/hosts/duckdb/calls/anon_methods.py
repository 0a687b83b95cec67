"""List the release methods, for ``anon_methods``."""

from typing import Any

import pyarrow as pa

from anon_sql import methods
from anon_sql.hosts.duckdb.registry import udf

_ROW = pa.struct(
    [
        *((name, pa.string()) for name in ("name", "what", "paper", "needs", "cost")),
        ("perturbative", pa.bool_()),
    ]
)


@udf(
    "__anon_methods_known",
    "STRUCT(name VARCHAR, what VARCHAR, paper VARCHAR, needs VARCHAR, cost VARCHAR, "
    "perturbative BOOLEAN)[]",
)
def methods_known(_: Any) -> pa.Array:
    """Return the facts recorded for each method, sorted by name."""
    rows = [
        {"name": name, **{field: getattr(method.facts, field) for field in _ROW.names[1:]}}
        for name, method in methods.releases().items()
    ]
    return pa.array([rows], pa.list_(_ROW))
