"""``safe_harbor``, as SQL calls it."""

import re
from collections.abc import Collection
from typing import Any

import pyarrow as pa

from anon_sql.core import stopping
from anon_sql.core.arrow import first, one_array
from anon_sql.core.parameters import read_group
from anon_sql.errors import AnonError, Parameter
from anon_sql.hosts.duckdb.binding import types_of
from anon_sql.hosts.duckdb.registry import sql_type, udf
from anon_sql.hosts.duckdb.roles import shapes_in
from anon_sql.suggest.safe_harbor import COMPARED, NAME, Examined, Harbor, Match, Rule
from anon_sql.suggest.safe_harbor import compared as rows_of
from anon_sql.suggest.safe_harbor import examined as column_of

_PREFIX = re.compile(r"\d{1,3}")


_COLUMN = pa.struct(
    [
        *((name, pa.string()) for name in ("name", "sql_type")),
        *((name, pa.int64()) for name in ("rows", "values")),
        ("numbers", pa.bool_()),
        *((name, pa.string()) for name in ("rule", "paragraph", "reason", "to_do")),
        ("per_year", pa.float64()),
    ]
)
_EXAMINED = pa.struct(
    [
        ("columns", pa.list_(_COLUMN)),
        ("positions", pa.list_(pa.int64())),
        ("judged", pa.list_(pa.bool_())),
    ]
)


@udf(sql_type(_EXAMINED))
def examined(types: Any, looks: Any, connections: Any) -> pa.Array:
    """Return what each column matches, and the positions of those that match, from 1 on.

    looks: of ``__anon_overview``. judged: whether a column is judged by its values, by position.
    """
    stopping.belongs_to(first(connections))
    columns = []
    for shape in shapes_in(types_of(types), one_array(looks)):
        stopping.check(NAME)
        columns.append(column_of(shape))
    positions = [i for i, column in enumerate(columns, 1) if column.match.rule is not Rule.NONE]
    result = {
        "columns": list(map(_packed, columns)),
        "positions": positions,
        "judged": [columns[i - 1].is_judged for i in positions],
    }
    return pa.array([result], _EXAMINED)


@udf(sql_type(pa.list_(COMPARED)))
def compared(columns: Any, tallies: Any, prefixes: Any, options: Any) -> pa.Array:
    """Return the rows of ``safe_harbor``; columns: of ``examined``; tallies: structs of a position,
    a text and its rows."""
    parameters = first(options)
    as_of = read_group(Harbor, NAME, {"as_of": parameters["as_of"]}).as_of
    by_column: dict[int, dict[str, int]] = {}
    for tally in first(tallies) or ():
        if tally["text"] is not None:
            by_column.setdefault(tally["position"], {})[tally["text"]] = tally["rows"]
    restricted = _restricted(first(prefixes)) if parameters["restricted"] else None
    entries = rows_of(
        list(map(_unpacked, first(columns))), by_column, restricted, as_of or parameters["today"]
    )
    return pa.array([entries.to_pylist()], pa.list_(COMPARED))


def _packed(column: Examined) -> dict[str, Any]:
    """Return a column as ``_COLUMN``."""
    fields = {**vars(column), **vars(column.match), "rule": column.match.rule.name}
    return {field.name: fields[field.name] for field in _COLUMN}


def _unpacked(fields: dict[str, Any]) -> Examined:
    """Return a column of ``_COLUMN``."""
    column = {name: fields[name] for name in ("name", "sql_type", "rows", "values", "numbers")}
    match = {name: fields[name] for name in ("paragraph", "reason", "to_do", "per_year")}
    return Examined(**column, match=Match(Rule[fields["rule"]], **match))


def _restricted(prefixes: list[str] | None) -> Collection[str]:
    """Return prefixes of three digits, those of numbers with their zeros, or raise AnonError."""
    rule = Parameter("restricted") + " must have prefixes of three digits in its column zip3"
    if not prefixes:
        raise AnonError(NAME, rule, "no rows")
    others = sum(_PREFIX.fullmatch(prefix) is None for prefix in prefixes)
    if others:
        got = "1 value that is not" if others == 1 else f"{others} values that are not"
        raise AnonError(NAME, rule, got)
    return {prefix.zfill(3) for prefix in prefixes}
