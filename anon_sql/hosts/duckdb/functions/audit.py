"""``audit``, ``suggest_roles`` and ``unique_combinations``, as SQL calls them."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql.audit.audit import audit
from anon_sql.audit.compared import ROW, AuditRequest, ColumnView, audit_request
from anon_sql.audit.parameters import NAME as AUDIT
from anon_sql.audit.reading import ChunkBuffer, RawRows, ReleasedRows
from anon_sql.core import stopping
from anon_sql.core.arrow import first, integers, one_array, plain
from anon_sql.core.hierarchy.tree import rows_of
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, Parameter, did_you_mean
from anon_sql.hosts.duckdb import rows as buffer
from anon_sql.hosts.duckdb import rows as memory
from anon_sql.hosts.duckdb.binding import HELPER, require_names, scope_in, types_of
from anon_sql.hosts.duckdb.identifiers import kinds_of, without
from anon_sql.hosts.duckdb.looks import marks_in
from anon_sql.hosts.duckdb.pair import (
    as_rows,
    columns_of,
    require_bound,
    roles_of,
)
from anon_sql.hosts.duckdb.registry import require_one_call, sql_type, udf
from anon_sql.hosts.duckdb.roles import resolve_roles, shapes_in
from anon_sql.hosts.duckdb.rows import available, named, path_rows
from anon_sql.measures.uniqueness import codes_of
from anon_sql.suggest.combinations import COMBINATION, unique_combinations
from anon_sql.suggest.roles import SUGGESTION, suggest_roles

_QUASI, _MARK, _ZERO = HELPER + "quasi_", HELPER + "mark_", HELPER + "zero"
_AUDIT_ROWS = pa.list_(ROW)


@dataclass
class _AuditBuffer(buffer.Buffered):
    """An audit whose relations are being read; most: rows of each that fit into memory."""

    request: AuditRequest
    most: int
    compared: frozenset[str] = field(init=False)
    raw: RawRows = field(init=False)
    released: ReleasedRows = field(init=False)
    waiting: dict[bool, ChunkBuffer] = field(init=False)

    def __post_init__(self) -> None:
        request = self.request
        names = (
            *request.shared,
            *request.added,
            *([] if request.entity is None else [request.entity]),
        )
        self.compared = frozenset(map(fold, names))
        self.forget()

    def forget(self) -> None:
        """Hold no rows. Those of people are not counted together."""
        together = self.request.entity is None
        self.raw, self.released = RawRows(together), ReleasedRows(together)
        self.waiting = {released: ChunkBuffer() for released in (False, True)}

    def side(self, released: bool) -> RawRows | ReleasedRows:
        """Return the rows of one relation."""
        return self.released if released else self.raw


@udf("BIGINT", volatile=True, owned=True)
def begin(database: str, calls: Any, connections: Any, statements: Any) -> pa.Array:
    """Return the number under which an audit holds what it reads, or raise AnonError; connections,
    statements: DuckDB's connection and query ids."""
    require_one_call(AUDIT, calls)
    statement = buffer.RunningStatement(database, first(connections), first(statements))
    stopping.belongs_to(statement.connection)
    fields = _fields(calls)
    scope, released_types = scope_in(fields["call"]), first(fields["released_types"])
    types = {n: kind for n, kind in first(fields["types"]).items() if not n.startswith(HELPER)}
    roles = roles_of(AUDIT, types, scope, first(fields["seen"]), first(fields["released"]))
    # k = 7 on a table with a column k is a BOOLEAN, which is refused
    size = pa.types.is_boolean(fields["k"].type) or first(fields["k"])
    options = {**first(fields["options"]), "k": size}
    free = without(types, (*roles.quasi, *roles.sensitive))
    kinds = kinds_of(shapes_in(free, fields["firsts"]), roles.identifier)
    request = audit_request(roles, types, released_types, options, first(fields["series"]), kinds)
    stopping.check(AUDIT)
    others = len(request.shared) + len(request.added) + len(request.kinds)
    most = memory.audited_rows(len(request.types), others)
    return pa.array([buffer.hold(_AuditBuffer(statement, request, most))], pa.int64())


@udf("BOOLEAN", volatile=True)
def take(numbers: Any, released: Any, rows: Any) -> pa.Array:
    """Hold rows, structs of one relation; return false for each.

    Raises AnonError for more rows than fit into memory, and holds none any longer.
    """
    if len(rows):
        reading: _AuditBuffer = buffer.buffered(first(numbers))
        stopping.check(AUDIT)
        which = first(released)
        _add(reading, which, reading.waiting[which].add(one_array(rows)))
    return pa.array(np.zeros(len(rows), np.bool_))


def _add(reading: _AuditBuffer, released: bool, rows: pa.StructArray | None) -> None:
    """Hold rows of one relation: of the other columns those that both have or the release adds."""
    if rows is None:
        return
    side = reading.side(released)
    names = [field.name for field in rows.type]
    columns = dict(zip(names, map(plain, rows.flatten()), strict=True))
    values = {n: v for n, v in named(columns, _QUASI).items() if n != _ZERO}
    marks = named(columns, _MARK)
    quasi_marks = {name: integers(marks.pop(_QUASI + name)) for name in values}
    others = {n: integers(mark) for n, mark in marks.items() if fold(n) in reading.compared}
    kinds = {} if released else reading.request.kinds
    identifiers = {n: integers(marks[n]) for n in kinds}
    side.add(len(rows), values, quasi_marks, others, identifiers)
    if side.distinct > reading.most:
        reading.forget()
        raise AnonError(
            AUDIT,
            "the rows must fit into memory",
            f"more than {reading.most:,} of one table",
            "run it where more memory is free",
        )


@udf(sql_type(_AUDIT_ROWS), volatile=True)
def findings(
    numbers: Any, wholes: Any, raw_row: Any, released_row: Any, raw_rows: Any, released_rows: Any
) -> pa.Array:
    """Return the rows of an audit, or raise AnonError; the arguments are of ``__anon_audited``."""
    reading: _AuditBuffer = buffer.claim(first(numbers))
    for released, rows in ((False, first(raw_rows)), (True, first(released_rows))):
        _add(reading, released, reading.waiting[released].rest())
        side = reading.side(released)
        if side.rows != rows:
            raise AnonError(
                AUDIT,
                "every row must be read once",
                f"{side.rows} read of {rows}",
                "please report this",
            )
    _add(reading, False, pa.array([], raw_row.type))  # where there are no rows
    _add(reading, True, pa.array([], released_row.type))
    request, fields = reading.request, _fields(wholes)
    distinct = columns_of(fields["distinct_values"])
    require_bound(AUDIT, list(request.values), list(distinct))
    paths, zone = path_rows(fields["paths"]), first(fields["time_zone"])
    spans = first(fields["spans"])
    views = {
        name: ColumnView(**view, consecutive=_is_consecutive(view["present"], **spans[name]))
        for name, view in first(fields["looks"]).items()
    }
    return as_rows(
        audit(
            request,
            reading.raw.raw(first(fields["ascends"]), distinct),
            reading.released.released(views),
            rows_of(paths, {**request.types, **request.values}, zone),
            first(fields["threads"]),
        )
    )


def _fields(structs: Any) -> dict[str, Any]:
    packed = one_array(structs)
    return {column.name: packed.field(position) for position, column in enumerate(packed.type)}


def _is_consecutive(present: int, *, numbers: int, whole: bool | None, span: float | None) -> bool:
    """Return whether values are as many whole numbers as lie between the least and the greatest.

    present: how many values there are. The others: those of ``__anon_audit_span``.
    """
    return numbers == present and whole is True and span == present


_CELL = 48  # bytes that a value costs: its hash in a list, in Arrow, mixed and sorted
_COMBINATIONS = "unique_combinations"


@udf("BOOLEAN")
def hashes_fit(functions: Any, types: Any, rows: Any, limits: Any) -> pa.Array:
    """Return true, or raise AnonError for a table whose hashes do not fit into memory, or a column
    name that begins with ``__anon_``."""
    function, columns = first(functions), types_of(types)
    require_names(function, columns)
    free, count = available(first(limits)), first(rows)
    if count * len(columns) * _CELL > free:
        raise AnonError(
            function,
            f"the table must fit into memory, {free // (_CELL * len(columns)):,} rows of "
            f"{len(columns)} columns",
            f"{count:,} rows",
            "raise memory_limit, or look at a sample of the rows",
        )
    return pa.array([True])


@udf(sql_type(pa.list_(SUGGESTION)))
def suggested(types: Any, views: Any, connections: Any) -> pa.Array:
    """Return the rows of ``suggest_roles``; views: what ``__anon_looked`` returns, by column;
    connections: DuckDB's connection id."""
    stopping.belongs_to(first(connections))
    kinds, packed = types_of(types), one_array(views)
    marks = [marks_in(packed.field(name).field("marks")) for name in kinds]
    stopping.check("suggest_roles")
    shapes = shapes_in(kinds, packed)
    return pa.array([suggest_roles(shapes, marks).to_pylist()], pa.list_(SUGGESTION))


@udf(sql_type(pa.list_(COMBINATION)))
def combined(
    types: Any, most: Any, columns: Any, scope: Any, seen: Any, marks: Any, connections: Any
) -> pa.Array:
    """Return the rows of ``unique_combinations``; marks: hashes by column; connections: DuckDB's
    connection id."""
    require_one_call(_COMBINATIONS, most)
    stopping.belongs_to(first(connections))
    kinds, packed, size = types_of(types), one_array(marks), first(most)
    if pa.types.is_boolean(most.type) or not isinstance(size, int) or size < 1:
        rule = Parameter("max_columns") + " must be a whole number from 1 on"
        raise AnonError(_COMBINATIONS, rule)
    chosen = _chosen(kinds, first(columns), scope_in(scope), first(seen))
    hashes = {name: marks_in(packed.field(name)) for name in chosen}
    rows = len(next(iter(hashes.values()))) if hashes else 0
    codes = {name: codes_of(values) for name, values in hashes.items()}
    combinations = unique_combinations(codes, rows, size)
    return pa.array([combinations.to_pylist()], pa.list_(COMBINATION))


def _chosen(kinds: dict[str, str], columns: Any, scope: Any, seen: Any) -> list[str]:
    """Return the columns to look at. Raises AnonError for a name that the table lacks."""
    if columns is None:
        roles = resolve_roles(_COMBINATIONS, kinds, scope, seen, needs_quasi=False)
        return [name for name in kinds if name not in roles.left_out]
    names = [columns] if isinstance(columns, str) else columns
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise AnonError(_COMBINATIONS, Parameter("columns") + " must be a list of column names")
    if not names:
        raise AnonError(_COMBINATIONS, Parameter("columns") + " must name a column")
    by_fold = {fold(name): name for name in kinds}
    for name in names:
        if fold(name) not in by_fold:
            rule = Parameter("columns") + " must name columns of the table"
            raise AnonError(_COMBINATIONS, rule, f"'{name}'", did_you_mean(name, kinds))
    return list(dict.fromkeys(by_fold[fold(name)] for name in names))


@udf("BOOLEAN")
def is_in(lists: Any, names: Any) -> pa.Array:
    """Return for each column name whether a list names it; every name is in NULL."""
    value = first(lists)
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list):
        return pa.array([True] * len(names))
    folded = {fold(name) for name in listed if isinstance(name, str)}
    return pa.array([fold(name.as_py()) in folded for name in names], pa.bool_())
