"""``audit`` as SQL calls it: the rows of both relations in, a row a property out."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql.audit.asked import NAME, Asked, asked
from anon_sql.audit.audit import audit
from anon_sql.audit.hashed import Marks
from anon_sql.audit.properties import ROW
from anon_sql.audit.reading import RawRows, ReleasedRows
from anon_sql.audit.telling_columns import Look
from anon_sql.core.arrow import first, integers, plain, whole
from anon_sql.core.hierarchy.rows import rows_of
from anon_sql.errors import AnonError
from anon_sql.hosts.duckdb import intake, memory
from anon_sql.hosts.duckdb.calls.binding import HELPER
from anon_sql.hosts.duckdb.calls.column_lists import columns_of, listed
from anon_sql.hosts.duckdb.calls.taking import given_paths, named
from anon_sql.hosts.duckdb.measuring import require_bound, roles_of
from anon_sql.hosts.duckdb.registry import sql_type, udf

_QUASI, _MARK, _ZERO = HELPER + "quasi_", HELPER + "mark_", HELPER + "zero"
_ROWS = pa.list_(ROW)


@dataclass
class _Reading(intake.Held):
    """An audit whose relations are being read; most: rows of each that fit into memory."""

    asked: Asked
    most: int
    raw: RawRows = field(default_factory=RawRows)
    released: ReleasedRows = field(default_factory=ReleasedRows)


@udf("__anon_audit_begin", "BIGINT", volatile=True, owned=True)
def begin(database: str, calls: Any, connections: Any, statements: Any) -> pa.Array:
    """Return the number under which an audit holds what it reads, or raise AnonError; connections,
    statements: DuckDB's connection and query ids."""
    told = _fields(calls)
    scope, shown = first(told["call"]), first(told["released_types"])
    types = {n: kind for n, kind in first(told["types"]).items() if not n.startswith(HELPER)}
    roles = roles_of(NAME, types, scope, first(told["seen"]), first(told["released"]))
    # k = 7 on a table with a column k is a BOOLEAN, which is refused
    size = pa.types.is_boolean(told["k"].type) or first(told["k"])
    given = asked(roles, types, shown, {**first(told["options"]), "k": size})
    statement = intake.Statement(database, first(connections), first(statements))
    most = memory.audited_rows(len(given.types), len(given.shared) + len(given.added))
    return pa.array([intake.hold(_Reading(statement, given, most))], pa.int64())


@udf("__anon_audit_take", "BOOLEAN", volatile=True)
def take(numbers: Any, released: Any, rows: Any) -> pa.Array:
    """Hold rows, structs of one relation; return false for each.

    Raises AnonError for more rows than fit into memory, and holds none any longer.
    """
    if len(rows):
        reading: _Reading = intake.held(first(numbers))
        side = reading.released if first(released) else reading.raw
        _add(side, whole(rows))
        if side.rows > reading.most:
            reading.raw, reading.released = RawRows(), ReleasedRows()
            raise AnonError(
                NAME,
                "the rows must fit into memory",
                f"more than {reading.most:,} of one table",
                "run it where more memory is free",
            )
    return pa.array(np.zeros(len(rows), np.bool_))


def _add(side: RawRows | ReleasedRows, rows: pa.StructArray) -> None:
    names = [field.name for field in rows.type]
    columns = dict(zip(names, map(plain, rows.flatten()), strict=True))
    values = {n: v for n, v in named(columns, _QUASI).items() if n != _ZERO}
    hashes = {name: _hashes(column) for name, column in named(columns, _MARK).items()}
    own = {name: hashes.pop(_QUASI + name) for name in values}
    side.add(len(rows), values, own, {n: v for n, v in hashes.items() if not n.startswith(HELPER)})


def _hashes(column: pa.Array) -> Marks:
    """Return a copy, since others of the rows would be held with it."""
    marks: Marks = np.array(integers(column), dtype=np.uint64)
    return marks


@udf("__anon_audit", sql_type(_ROWS), volatile=True)
def audited(
    numbers: Any, wholes: Any, raw_row: Any, released_row: Any, raw_rows: Any, released_rows: Any
) -> pa.Array:
    """Return the rows of an audit, or raise AnonError; the arguments are of ``__anon_audited``."""
    reading: _Reading = intake.claim(first(numbers))
    for side, rows in ((reading.raw, first(raw_rows)), (reading.released, first(released_rows))):
        if side.rows != rows:
            raise AnonError(
                NAME,
                "every row must be read once",
                f"{side.rows} read of {rows}",
                "please report this",
            )
    _add(reading.raw, pa.array([], raw_row.type))  # where there are no rows
    _add(reading.released, pa.array([], released_row.type))
    given, told = reading.asked, _fields(wholes)
    distinct = columns_of(told["distinct_values"])
    require_bound(NAME, list(given.values), list(distinct))
    paths, zone = given_paths(told["paths"]), first(told["time_zone"])
    looks = {name: Look(**look) for name, look in first(told["looks"]).items()}
    return listed(
        audit(
            given,
            reading.raw.raw(first(told["ascends"]), distinct),
            reading.released.released(looks),
            rows_of(paths, {**given.types, **given.values}, zone),
        )
    )


def _fields(structs: Any) -> dict[str, Any]:
    held = whole(structs)
    return {column.name: held.field(at) for at, column in enumerate(held.type)}
