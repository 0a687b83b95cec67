"""Store the rows of running statements, chunk by chunk as DuckDB reads them.

Storing them as lists in SQL would take more than twice as long for text. A statement that fails
leaves its rows behind: they are deleted when its connection starts another such statement, or when
any connection starts one more than an hour later.
"""

import itertools
import threading
import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.arrow import plain
from anon_sql.core.returned_memory import return_memory
from anon_sql.core.workers import Workers
from anon_sql.errors import AnonError
from anon_sql.pipeline.request import Request

HOUR = 3600.0
MANY = 100_000  # rows whose memory is worth the milliseconds of returning it
_TEXTS = (
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_binary,
    pa.types.is_large_binary,
)
_lock = threading.Lock()
_numbers = itertools.count(1)
_open: dict[int, "Held"] = {}


@dataclass(frozen=True)
class Statement:
    """A statement: name of the open database, DuckDB's connection id and query id."""

    database: str
    connection: int
    number: int


@dataclass
class Held:
    """What a statement holds between its steps; touched: when it was last used."""

    statement: Statement
    touched: float = field(default_factory=time.monotonic, kw_only=True)


@dataclass
class Intake(Held):
    """The rows of one call that were read so far, numbered from 0 in the order of arrival.

    most: maximum number of rows; too_large: error message for more. chunks: the rows as structs.
    columns: the rows by column, after ``settled``.
    """

    request: Request
    most: int
    too_large: str
    rows: int = 0
    chunks: list[pa.Array] = field(default_factory=list)
    columns: dict[str, pa.Array] = field(default_factory=dict)

    def settled(self, taken: npt.NDArray[np.int32], workers: Workers) -> dict[str, pa.Array]:
        """Return the columns by name, with rows in the order of ``taken``; text as dictionaries.

        taken: int32[n], the arrival number of each row. Raises AnonError unless it has every number
        exactly once.
        """
        begins = np.append(0, np.flatnonzero(np.diff(taken) != 1) + 1)[: len(taken)]
        lengths = np.diff(begins, append=len(taken))  # of runs of successive numbers
        in_turn = np.argsort(taken[begins])
        came = np.cumsum(lengths[in_turn]) - lengths[in_turn]
        if len(taken) != self.rows or (taken[begins][in_turn] != came).any():
            raise AnonError(
                self.request.function,
                "every row must be read once",
                f"{self.rows:,} read and {len(taken):,} held",
                "nothing was released; please report this",
            )
        order = pa.array(taken) if len(begins) > 1 else None
        names = [column.name for column in self.chunks[0].type]
        jobs = [(values, order) for values in pa.chunked_array(self.chunks).flatten()]
        found = workers.map(_whole, jobs, [self.rows] * len(jobs))
        self.columns = dict(zip(names, found, strict=True))
        del jobs
        self.chunks.clear()
        if self.rows > MANY:
            return_memory()
        return self.columns


def start(request: Request, statement: Statement, most: int, too_large: str) -> int:
    """Return the number of a new intake; delete those that failed statements left behind."""
    return hold(Intake(statement, request, most, too_large))


def hold(made: Held) -> int:
    """Hold something under a number, which is returned; delete what failed statements left."""
    now, statement = time.monotonic(), made.statement
    with _lock:
        for number, other in list(_open.items()):
            same = replace(other.statement, number=statement.number) == statement
            if (same and other.statement != statement) or now - other.touched > HOUR:
                del _open[number]
        number = next(_numbers)
        _open[number] = made
    return number


def add(number: int, rows: pa.ChunkedArray) -> int:
    """Store rows, given as structs; return the arrival number of the first of them.

    Raises AnonError for more rows than fit into memory, to every thread that adds some: the rows
    are deleted, and the empty intake stays until its connection starts another release.
    """
    with _lock:
        intake: Intake = _known(number)
        first = intake.rows
        intake.rows += len(rows)
        intake.touched = time.monotonic()
        if intake.rows > intake.most:
            intake.chunks.clear()
            raise AnonError(intake.request.function, intake.too_large)
        intake.chunks.extend(rows.chunks)
    return first


def held(number: int) -> Any:
    """Return what is held under a number, and note that it is used."""
    with _lock:
        found = _known(number)
        found.touched = time.monotonic()
    return found


def claim(number: int) -> Any:
    """Return what is held under a number, and hold it no longer."""
    with _lock:
        found = _known(number)
        del _open[number]
    return found


def _known(number: int) -> Any:
    """Return what is held under a number, or raise AnonError if it was deleted."""
    if number not in _open:
        raise AnonError(
            "anon_sql",
            "a statement must find the rows it has read",
            "none: its connection went on to another, or an hour went by",
            "run it again",
        )
    return _open[number]


def _whole(values: pa.ChunkedArray, order: pa.Array | None) -> pa.Array:
    """Return the chunks of a column as one array, rearranged by ``order``; text as dictionary."""
    plain(values)
    if any(is_text(values.type) for is_text in _TEXTS):
        values = values.dictionary_encode()
    elif pa.types.is_dictionary(values.type):
        values = values.unify_dictionaries()
    whole = values.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks)
    return whole if order is None else whole.take(order)
