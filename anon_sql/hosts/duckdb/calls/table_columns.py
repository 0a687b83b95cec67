"""Functions that look at one table by itself and need no quasi-identifier."""

from typing import Any

import pyarrow as pa

from anon_sql.core.arrow import first, integers, lists, plain, whole
from anon_sql.hosts.duckdb.calls.binding import HELPER, types_of
from anon_sql.hosts.duckdb.calls.taking import named
from anon_sql.hosts.duckdb.measuring import require_bound
from anon_sql.hosts.duckdb.registry import sql_type, udf
from anon_sql.hosts.duckdb.settling import settle
from anon_sql.measures.data_quality import FAULT, Profile, data_quality
from anon_sql.measures.imbalance import IMBALANCE, imbalance
from anon_sql.measures.pair import require_any


@udf("__anon_imbalance", sql_type(pa.list_(IMBALANCE)))
def value_ratios(function: Any, types: Any, scope: Any, seen: Any, groups: Any) -> pa.Array:
    """Return the rows of ``imbalance``; groups: the texts of sensitive columns, with counts."""
    name, listed = first(function), lists(groups)
    texts = named(listed, HELPER + "text_")
    roles = settle(name, types_of(types), first(scope), first(seen), needs_quasi=False)
    require_bound(name, roles.sensitive, list(texts))
    require_any(name, roles.sensitive)
    counts = listed[HELPER + "count"]
    if counts is None:
        return pa.array([[]], pa.list_(IMBALANCE))
    held = {column: texts[column] for column in roles.sensitive}
    return pa.array([imbalance(held, integers(counts))], pa.list_(IMBALANCE))


@udf("__anon_quality", sql_type(pa.list_(FAULT)))
def faults(types: Any, scope: Any, seen: Any, profiles: Any, rows: Any, distinct: Any) -> pa.Array:
    """Return the rows of ``data_quality``; profiles: of every column, see ``__anon_profile``; rows:
    of the table; distinct: how many of them differ in a column that is no identifier."""
    columns, total = types_of(types), first(rows)
    roles = settle("data_quality", columns, first(scope), first(seen), needs_quasi=False)
    packed = whole(profiles)
    found = []
    for name, kind in columns.items():
        told = packed.field(name)
        held = told.field("held")[0]
        nulls = first(told.field("nulls"))
        found.append(Profile(name, kind, nulls, plain(held.values) if held.is_valid else None))
    repeated = total - first(distinct) if len(roles.identifier) < len(columns) else 0
    return pa.array([data_quality(found, total, repeated)], pa.list_(FAULT))
