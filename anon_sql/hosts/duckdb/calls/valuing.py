"""``value_loss`` as SQL calls it: the values of both relations in, a row a column out."""

from typing import Any

import pyarrow as pa

from anon_sql.core.arrow import first
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, did_you_mean
from anon_sql.hosts.duckdb.calls.binding import HELPER
from anon_sql.hosts.duckdb.calls.column_lists import by_name, columns_of
from anon_sql.hosts.duckdb.calls.taking import named
from anon_sql.hosts.duckdb.measuring import Given
from anon_sql.hosts.duckdb.registry import sql_type, udf
from anon_sql.measures.pair import Pair
from anon_sql.measures.value_loss import LOSS, require_values, row_pairs, value_loss

NAME = "value_loss"


@udf("__anon_value_loss", sql_type(pa.list_(LOSS)))
def lost(given: Any, ids: Any, raw_lists: Any, released_lists: Any) -> pa.Array:
    """Return the loss of each column of numbers, dates or times."""
    pair = Given(NAME, given).pair(values=True)
    pair.require_no_more_rows()
    shown = [column for column in pair.domains if column.number]
    require_values(NAME, [column.name for column in shown if column.name not in pair.one_value])
    pair.losses  # noqa: B018 - values that the raw table cannot have are an error
    raw, released = columns_of(raw_lists), columns_of(released_lists)
    rows = None if first(ids) is None else _rows(pair, first(ids), raw, released)
    found = [
        value_loss(
            column.name,
            column.sql_type,
            by_name(raw, column.name),
            by_name(released, column.name),
            rows,
        )
        for column in shown
    ]
    return pa.array([found], pa.list_(LOSS))


def _rows(pair: Pair, name: str, *lists: dict[str, pa.Array]) -> Any:
    """Return the released row of each raw row by the column ``name``; lists: of both relations."""
    for types in (pair.types, pair.released):
        if fold(name) not in map(fold, types):
            rule = "id must name a column of the raw table and of the release"
            raise AnonError(NAME, rule, f"'{name}'", did_you_mean(name, types))
    return row_pairs(NAME, name, *(by_name(named(one, HELPER + "id_"), name) for one in lists))
