"""Convert the rows of a call to a ``Source`` for the core."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from anon_sql.core import interrupt
from anon_sql.core.arrow import integers, plain, valid
from anon_sql.core.workers import Workers
from anon_sql.errors import AnonError
from anon_sql.hosts.duckdb import intake
from anon_sql.hosts.duckdb.calls.binding import HELPER
from anon_sql.release.request import Request
from anon_sql.release.source import Source

_HASH, _MADE = HELPER + "hash", HELPER + "made"
_PARTS = ("attribute", "value", "label")  # of a hierarchy; levels are checked by column
_FROM, _KEY = HELPER + "from_", HELPER + "key_"


def taken_rows(number: int, taken: Any) -> tuple[Request, Source | None]:
    """Return the request of a call and its rows; None for a table without rows.

    number: of the intake; taken: the list of arrival numbers that gives the order of the rows.
    """
    interrupt.begin()
    rows = intake.claim(number)
    request = rows.request
    held = taken.combine_chunks() if isinstance(taken, pa.ChunkedArray) else taken
    if not held.is_valid()[0].as_py():
        return request, None
    workers = Workers(request.function, request.threads)
    columns = rows.settled(integers(held.values), workers)
    given, made = named(columns, _FROM), columns.get(_MADE)
    added = None if made is None else integers(made) == 1
    return request, Source(
        {name: given[name] for name in request.quasi},
        columns[_HASH],
        named(columns, _KEY),
        None if request.classes is None else given[request.classes],
        None if added is None or not added.any() else ~added,
    )


def given_paths(paths: Any) -> pa.StructArray | None:
    """Return the rows of a hierarchy that have a value and a label; None without a hierarchy.

    paths: a list of structs, or NULL. Raises AnonError for a relation that is no hierarchy.
    """
    held = paths.combine_chunks() if isinstance(paths, pa.ChunkedArray) else paths
    if not held[0].is_valid:
        return None
    rows = plain(held[0].values)
    lacking = [name for name in _PARTS if rows.field(name).null_count == len(rows)]
    if lacking:
        raise AnonError(
            "hierarchy",
            "the relation must have the columns attribute, value, level and label",
            f"nothing in {', '.join(lacking)}",
            "read_hierarchies() and numeric_hierarchy() make one",
        )
    return rows.filter(pa.array(valid(rows.field("value")) & valid(rows.field("label"))))


def named(columns: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """Return the columns whose names begin with a prefix, by their names without it."""
    return {n.removeprefix(prefix): v for n, v in columns.items() if n.startswith(prefix)}
