"""Generate synthetic rows of a table, for ``sdka`` and ``sdka_stats``."""

from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql.core.arrow import first, lists
from anon_sql.hosts.duckdb import intake
from anon_sql.hosts.duckdb.calls.binding import HELPER
from anon_sql.hosts.duckdb.calls.taking import given_paths, named, taken_rows
from anon_sql.hosts.duckdb.registry import sql_type, udf
from anon_sql.measures import sdka_stats as stats
from anon_sql.pipeline.synthesize import require_sensitive, synthesize

_POSITIONS = pa.map_(pa.string(), pa.list_(pa.int32()))
_ADDED = pa.struct([("attribute", pa.string()), ("value", pa.string()), ("rows", pa.int64())])
_WHOLE = ("real_rows", "synthetic_rows", "clusters", "merged", "classes", "smallest_class")
_STATS = pa.struct(
    [
        *((name, pa.int64()) for name in _WHOLE[:2]),
        ("added", pa.list_(_ADDED)),
        *((name, pa.int64()) for name in _WHOLE[2:]),
        *((name, pa.float64()) for name in ("iloss", "gcp")),
    ]
)


@udf("__anon_synthesize", sql_type(_POSITIONS), volatile=True)
def positions(numbers: Any, packed: Any) -> pa.Array:
    """Return, by released column, the list positions, from 1, of the synthetic records' values.

    packed: lists of the released columns and of hashes of their values. The result is NULL for a
    table without rows.
    """
    request = intake.claim(first(numbers)).request
    columns = lists(packed)
    require_sensitive(request)
    codes = named(columns, HELPER + "code_")
    if any(values is None for values in codes.values()):
        return pa.array([None], _POSITIONS)
    values = {name: columns[name] for name in codes}
    found = synthesize(request, values, codes)
    return pa.array([[(name, at + np.int64(1)) for name, at in found.items()]], _POSITIONS)


@udf("__anon_sdka_stats", sql_type(_STATS), volatile=True)
def sdka_stats(numbers: Any, taken: Any, paths: Any, types: Any, made: Any) -> pa.Array:
    """Return the statistics of SDkA; made: lists of the synthetic rows' sensitive values."""
    request, source = taken_rows(first(numbers), taken)
    if source is None:
        return pa.array([{**dict.fromkeys(_WHOLE, 0), "added": []}], _STATS)
    known = {
        name: values
        for name, values in lists(made).items()
        if values is not None and not name.startswith(HELPER)
    }
    row = stats.sdka_stats(source, request, given_paths(paths))
    return pa.array([{**row, "added": stats.added(known, first(types))}], _STATS)
