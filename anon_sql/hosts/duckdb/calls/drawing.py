"""``query_workload``, as SQL calls it."""

from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql.core.arrow import first, integers, lists, one_list
from anon_sql.core.options import read
from anon_sql.hosts.duckdb.calls.binding import HELPER, types_of
from anon_sql.hosts.duckdb.measuring import roles_of
from anon_sql.hosts.duckdb.registry import sql_type, udf
from anon_sql.queries.draw import DRAWN, OPTIONS, workload


@udf("__anon_query_workload", sql_type(pa.list_(DRAWN)))
def drawn(types: Any, groups: Any, scope: Any, seen: Any, given: Any) -> pa.Array:
    """Return the queries; groups: rows that are alike, see ``__anon_groups``."""
    function, kinds, call, held = "query_workload", types_of(types), first(scope), lists(groups)
    options = read(function, OPTIONS, first(given))
    quasi = roles_of(function, kinds, call, first(seen), call["relation"]).quasi
    counts = held[HELPER + "count"]
    found = workload(
        {name: kinds[name] for name in quasi},
        {name: held[name] for name in quasi},
        np.zeros(0, dtype=np.int64) if counts is None else integers(counts),
        options,
    )
    return one_list(found, DRAWN)
