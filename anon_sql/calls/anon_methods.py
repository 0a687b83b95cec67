"""The release methods as rows, for ``anon_methods``."""

from typing import Any

import pyarrow as pa

from anon_sql import methods
from anon_sql.registry import udf

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
    """The facts that each method was filed with, by name."""
    rows = [
        {"name": name, **{field: getattr(method.facts, field) for field in _ROW.names[1:]}}
        for name, method in methods.releases().items()
    ]
    return pa.array([rows], pa.list_(_ROW))
