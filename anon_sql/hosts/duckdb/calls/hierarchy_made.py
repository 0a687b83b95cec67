"""The functions that make a hierarchy for a column, as SQL calls them."""

from typing import Any

import pyarrow as pa

from anon_sql.core.arrow import first, one_list, plain, whole
from anon_sql.core.hierarchy.made import PATH, by_periods, by_prefixes, by_widths
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, did_you_mean
from anon_sql.hosts.duckdb.calls.binding import types_of
from anon_sql.hosts.duckdb.registry import sql_type, udf

_PATHS = sql_type(pa.list_(PATH))


@udf("__anon_by_widths", _PATHS)
def ranges(types: Any, held: Any, column: Any, widths: Any, kind: Any) -> pa.Array:
    """The rows of ``numeric_hierarchy``; kind: the SQL type of the widths."""
    known, values = _column("numeric_hierarchy", types, held, column)
    item = first(kind).removesuffix("[]")
    return one_list(by_widths(first(column), known, values, _items(widths), item), PATH)


@udf("__anon_by_periods", _PATHS)
def periods(types: Any, held: Any, column: Any, levels: Any) -> pa.Array:
    """The rows of ``date_hierarchy``."""
    known, values = _column("date_hierarchy", types, held, column)
    return one_list(by_periods(first(column), known, values, first(levels)), PATH)


@udf("__anon_by_prefixes", _PATHS)
def prefixes(types: Any, held: Any, column: Any, lengths: Any) -> pa.Array:
    """The rows of ``prefix_hierarchy``."""
    known, values = _column("prefix_hierarchy", types, held, column)
    return one_list(by_prefixes(first(column), known, values, _items(lengths)), PATH)


def _column(function: str, types: Any, held: Any, column: Any) -> tuple[str, pa.Array]:
    """The SQL type and the distinct values of the column that a call names, or an AnonError."""
    kinds, wanted = types_of(types), first(column)
    known = {fold(name): name for name in kinds}
    if not isinstance(wanted, str) or fold(wanted) not in known:
        got = f"'{wanted}'" if isinstance(wanted, str) else "none"
        rule, hint = "the hierarchy must be for a column of the table", None
        if isinstance(wanted, str):
            hint = did_you_mean(wanted, kinds)
        raise AnonError(function, rule, got, hint)
    name = known[fold(wanted)]
    values = whole(held).field(name)[0]
    kind = values.type.value_type
    return kinds[name], plain(values.values) if values.is_valid else plain(pa.array([], kind))


def _items(given: Any) -> pa.Array:
    """The items of a list; none for another value."""
    listed = given[0]
    is_list = pa.types.is_list(listed.type) or pa.types.is_large_list(listed.type)
    return listed.values if is_list and listed.is_valid else pa.array([], pa.int32())
