"""Store the rows of running calls, chunk by chunk as DuckDB reads them, within its memory.

Storing them as lists in SQL would take more than twice as long for text. A statement that fails
leaves its rows behind, since DuckDB does not tell: they are deleted when its connection starts
another such statement, when its database closes, or when any connection starts one more than an
hour later.
"""

import itertools
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql import system
from anon_sql.core import stopping
from anon_sql.core.arrow import first, integers, one_array, plain, return_memory, valid
from anon_sql.core.duckdb_internals.settings import size_in_bytes
from anon_sql.core.forks import ForkLock
from anon_sql.core.parameters import takes
from anon_sql.core.pseudonyms import key_of
from anon_sql.core.running import Workers
from anon_sql.core.stopping import Stop
from anon_sql.errors import AnonError, Parameter
from anon_sql.hosts.duckdb.binding import HELPER, scope_in, types_of
from anon_sql.hosts.duckdb.registry import require_one_call, udf
from anon_sql.hosts.duckdb.roles import described, shapes_in
from anon_sql.pipeline.request import Request, Source, checked
from anon_sql.suggest.identifiers import without_identifiers

HOUR = 3600.0
MIN_RETURNED_ROWS = 100_000  # rows whose memory is worth the milliseconds of returning it
_TEXTS = (
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_binary,
    pa.types.is_large_binary,
)
_lock = ForkLock()
_numbers = itertools.count(1)
_open: dict[int, "Buffered"] = {}


@dataclass(frozen=True)
class RunningStatement:
    """A statement: name of the open database, DuckDB's connection id and query id."""

    database: str
    connection: int
    number: int


@dataclass
class Buffered:
    """What a statement holds between its steps.

    touched: when it was last used; stop: its token, of the step that begins it.
    """

    statement: RunningStatement
    touched: float = field(default_factory=time.monotonic, kw_only=True)
    stop: Stop | None = field(default_factory=stopping.current, kw_only=True, repr=False)


@dataclass
class RowBuffer(Buffered):
    """The rows of one call that were read so far, numbered from 0 in the order of arrival.

    most: maximum number of rows; too_large: error message for more. chunks: the rows as structs.
    columns: the rows by column, after ``in_order``.
    """

    request: Request
    most: int
    too_large: str
    rows: int = 0
    chunks: list[pa.Array] = field(default_factory=list)
    columns: dict[str, pa.Array] = field(default_factory=dict)

    def in_order(self, row_numbers: npt.NDArray[np.int32], workers: Workers) -> dict[str, pa.Array]:
        """Return the columns by name, rows in the order of ``row_numbers``; text as dictionaries.

        row_numbers: int32[n], the arrival number of each row. Raises AnonError unless it has every
        number exactly once.
        """
        begins = np.append(0, np.flatnonzero(np.diff(row_numbers) != 1) + 1)[: len(row_numbers)]
        lengths = np.diff(begins, append=len(row_numbers))  # of runs of successive numbers
        run_order = np.argsort(row_numbers[begins])
        arrivals = np.cumsum(lengths[run_order]) - lengths[run_order]
        if len(row_numbers) != self.rows or (row_numbers[begins][run_order] != arrivals).any():
            raise AnonError(
                self.request.function,
                "every row must be read once",
                f"{self.rows:,} read and {len(row_numbers):,} held",
                "nothing was released; please report this",
            )
        order = pa.array(row_numbers) if len(begins) > 1 else None
        names = [column.name for column in self.chunks[0].type]
        jobs = [(values, order) for values in pa.chunked_array(self.chunks).flatten()]
        columns = workers.map(combined, jobs, [self.rows] * len(jobs))
        self.columns = dict(zip(names, columns, strict=True))
        del jobs
        self.chunks.clear()
        if self.rows > MIN_RETURNED_ROWS:
            return_memory()
        return self.columns


def start(request: Request, statement: RunningStatement, most: int, too_large: str) -> int:
    """Return the number of a new buffer; delete those that failed statements left behind."""
    return hold(RowBuffer(statement, request, most, too_large))


def hold(buffer: Buffered) -> int:
    """Hold something under a number, which is returned; delete what failed statements left."""
    now, statement = time.monotonic(), buffer.statement
    with _lock:
        for number in list(_open):
            other = _open.get(number)
            if other is None:  # another database has closed meanwhile
                continue
            same = replace(other.statement, number=statement.number) == statement
            if (same and other.statement != statement) or now - other.touched > HOUR:
                _open.pop(number, None)
        number = next(_numbers)
        _open[number] = buffer
    return number


def forget(database: str) -> None:
    """Delete what the statements of a database have left behind. Takes no lock, as a finalizer."""
    for number in list(_open):
        buffer = _open.get(number)
        if buffer is not None and buffer.statement.database == database:
            _open.pop(number, None)


def add(number: int, rows: pa.ChunkedArray) -> int:
    """Store rows, given as structs; return the arrival number of the first of them.

    Raises AnonError for more rows than fit into memory, to every thread that adds some: the rows
    are deleted, and the empty buffer stays until its connection starts another release.
    """
    with _lock:
        buffer: RowBuffer = _open_buffer(number)
        stopping.check(buffer.request.function)
        first = buffer.rows
        buffer.rows += len(rows)
        buffer.touched = time.monotonic()
        if buffer.rows > buffer.most:
            buffer.chunks.clear()
            raise AnonError(buffer.request.function, buffer.too_large)
        buffer.chunks.extend(rows.chunks)
    return first


def buffered(number: int) -> Any:
    """Return what is stored under a number, and note that it is used."""
    with _lock:
        buffer = _open_buffer(number)
        buffer.touched = time.monotonic()
    return buffer


def claim(number: int) -> Any:
    """Return what is stored under a number, and delete it."""
    with _lock:
        buffer = _open_buffer(number)
        del _open[number]
    return buffer


def _open_buffer(number: int) -> Any:
    """Return what is stored under a number, and go on with the token of its statement.

    Raises AnonError if it was deleted.
    """
    if number not in _open:
        raise AnonError(
            "anon_sql",
            "a statement must find the rows it has read",
            "none: its connection has started another, or an hour has passed",
            "run it again",
        )
    buffer = _open[number]
    if buffer.stop is not None:
        stopping.carry(buffer.stop)
    return buffer


def combined(values: pa.ChunkedArray, order: pa.Array | None = None) -> pa.Array:
    """Return the chunks of a column as one array, rearranged by ``order``; text as dictionary."""
    plain(values)
    if any(is_text(values.type) for is_text in _TEXTS):
        values = values.dictionary_encode()
    elif pa.types.is_dictionary(values.type):
        values = values.unify_dictionaries()
    array = values.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks)
    return array if order is None else array.take(order)


# Measured: three million rows of 8 quasi-identifiers, from and into Parquet, take 332 bytes per row
# with 1 kept column, 383 with 3 and 439 to 477 with 5; 422 with suppression_limit, 538 with l and
# 511 with t. Ten million with 1 take 304. The estimate is a fifth above that, for longer texts.
_ROW = 70  # bytes that a row costs whatever its columns: order, classes, hashes, the output's index
_QUASI = 35  # bytes a value of a quasi-identifier costs: Arrow's copy, arrays, the label
_KEPT = 45  # bytes a value that is released as it is costs: DuckDB's list and the output
_MARK = 24  # bytes a value costs whose column only a * releases: its hash, in a list and sorted
_SEARCH = 230  # bytes that a row costs where classes are searched under l, t, people or a limit
# Measured with benchmarks/audit.py: ten million rows of 8 quasi-identifiers and 1 or 2 others.
_AUDITED = 60  # bytes a raw row and its released row cost an audit whatever their columns
_NUMBER = 4  # bytes a quasi-identifier costs an audit
_HASHES = 20  # bytes another column costs an audit, of both rows


def available(limit: str | None) -> int:
    """Return the bytes that may be used: DuckDB's limit or what the system can give, if less.

    limit: as DuckDB's setting; None for its default, which is a share of the memory there is.
    """
    free, most = system.free_memory(), size_in_bytes(limit)
    sizes = [size for size in (free, most) if size is not None]
    return min(sizes) if sizes else _default_limit()


def _default_limit() -> int:
    with closing(duckdb.connect()) as con:
        ((limit,),) = con.execute("SELECT current_setting('memory_limit')").fetchall()
    return size_in_bytes(limit) or 0


def bytes_a_row(request: Request) -> int:
    """Return the bytes that a release takes for a row."""
    searched = request.protected or request.entity or request.option("suppression_limit")
    columns = _QUASI * len(request.quasi) + _KEPT * len(request.kept) + _MARK * len(request.rest)
    return _ROW + columns + (_SEARCH if searched else 0)


def rows_that_fit(request: Request, limit: str | None) -> tuple[int, str]:
    """Return how many rows fit into memory, and the rest of the sentence for more.

    limit: DuckDB's setting ``memory_limit``.
    """
    row = bytes_a_row(request)
    free = available(limit)
    rows = free // row
    return rows, (
        f"more than {rows:,} rows, which is what fits into the {free / 1024**3:.1f} GiB of memory "
        f"there are at about {row:,} bytes per row; raise memory_limit, or release it in parts: "
        "anon_sql.release(con, …) or anon-sql release"
    )


def audited_rows(quasi: int, others: int) -> int:
    """Return how many rows of each relation of an audit fit into memory.

    quasi, others: numbers of columns. DuckDB's setting ``memory_limit`` does not count, since rows
    are held outside of DuckDB.
    """
    return available(None) // (_AUDITED + _NUMBER * quasi + _HASHES * others)


_HASH, _MADE = HELPER + "hash", HELPER + "made"
_FROM, _KEY = HELPER + "from_", HELPER + "key_"
_PARTS = ("attribute", "value", "label")  # of a hierarchy; levels are checked by column


@udf("BIGINT", volatile=True, owned=True)
def begin(
    database: str,
    functions: Any,
    types: Any,
    k: Any,
    scopes: Any,
    seen: Any,
    options: Any,
    settings: Any,
    releases: Any,
    connections: Any,
    statements: Any,
    probes: Any,
) -> pa.Array:
    """Return the number of the buffer that stores the rows of a call, or raise AnonError.

    types: SQL type by column name; seen: the catalog as the caller sees it; options: parameters
    by name; releases: whether rows are released, which requires a role for every column;
    connections, statements: DuckDB's connection and query ids. probes: for each helper macro
    applied to values, whether it returns the expected result; if not, it was replaced, which is an
    error.
    """
    function, scope, setting = first(functions), scope_in(scopes), first(settings)
    require_one_call(function, k)
    if not all(first(probes)):
        raise AnonError(
            function,
            "the helper macros must be those of this version",
            "one that was replaced",
            "call anon_sql.register(con, overwrite=True)",
        )
    relation = described(function, types_of(types), scope, first(seen), setting)
    bound = {name: value for name, value in scope.items() if name in takes(function)}
    arguments = {**bound, **(first(options) or {}), "k": pa.types.is_boolean(k.type) or first(k)}
    drops = scope["drops"] or ()
    request = checked(
        function, relation, arguments, complete=first(releases), drops=drops, key_of=key_of
    )
    most, too_large = rows_that_fit(request, setting["memory_limit"])
    statement = RunningStatement(database, first(connections), first(statements))
    stopping.belongs_to(statement.connection)
    stopping.check(function)
    number = start(request, statement, most, f"the table must fit into memory, got {too_large}")
    return pa.array([number], pa.int64())


@udf("INTEGER", volatile=True)
def append(numbers: Any, rows: Any) -> pa.Array:
    """Return the arrival number of each row: from 0, without gaps over all threads."""
    if not len(rows):
        return pa.array([], pa.int32())
    first_number = add(first(numbers), rows)
    return pa.array(np.arange(first_number, first_number + len(rows), dtype=np.int32))


def buffered_rows(
    number: int, row_numbers: Any, looks: Any = None
) -> tuple[Request, Source | None]:
    """Return the request of a call and its rows; None for a table without rows.

    number: of the buffer; row_numbers: list of arrival numbers, the order of the rows. looks: as
    ``shapes_in`` takes them, of the columns that only a ``*`` releases. Raises AnonError if one of
    them looks like an identifier.
    """
    rows: RowBuffer = claim(number)
    request = rows.request
    stopping.check(request.function)
    if request.rest and looks is not None:
        request = without_identifiers(request, shapes_in(request.rest, looks, one_more=True))
    numbers = one_array(row_numbers)
    if not numbers.is_valid()[0].as_py():
        return request, None
    workers = Workers(request.function, request.threads)
    columns = rows.in_order(integers(numbers.values), workers)
    values, synthetic = named(columns, _FROM), columns.get(_MADE)
    added = None if synthetic is None else integers(synthetic) == 1
    return request, Source(
        {name: values[name] for name in request.quasi},
        columns[_HASH],
        named(columns, _KEY),
        None if request.classes is None else values[request.classes],
        None if added is None or not added.any() else ~added,
    )


def path_rows(paths: Any) -> pa.StructArray | None:
    """Return the rows of a hierarchy that have a value and a label; None without a hierarchy.

    paths: a list of structs, or NULL. Raises AnonError for a relation that is no hierarchy.
    """
    packed = one_array(paths)
    if not packed[0].is_valid:
        return None
    rows = plain(packed[0].values)
    missing = [name for name in _PARTS if rows.field(name).null_count == len(rows)]
    if missing:
        raise AnonError(
            "hierarchy",
            Parameter("hierarchy", "the relation")
            + " must have the columns attribute, value, level and label",
            f"nothing in {', '.join(missing)}",
            "read_hierarchies() and numeric_hierarchy() make one",
        )
    return rows.filter(pa.array(valid(rows.field("value")) & valid(rows.field("label"))))


def named(columns: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """Return the columns whose names begin with a prefix, by their names without it."""
    return {n.removeprefix(prefix): v for n, v in columns.items() if n.startswith(prefix)}
