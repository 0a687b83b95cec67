"""The rows of the releases under way, chunk by chunk as DuckDB reads them.

Lists in SQL would hold them as well, at more than twice the cost for text. A statement that fails
leaves its rows behind: they are forgotten when its connection starts another release, or when any
starts an hour later.
"""

import itertools
import threading
import time
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.arrow import plain
from anon_sql.errors import AnonError
from anon_sql.workers import Workers

HOUR = 3600.0
_TEXTS = (
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_binary,
    pa.types.is_large_binary,
)
_lock = threading.Lock()
_numbers = itertools.count(1)
_open: dict[int, "Intake"] = {}


@dataclass(frozen=True)
class Statement:
    """One statement of one connection: which open database it is of, and DuckDB's own numbers."""

    database: str
    connection: int
    number: int


@dataclass
class Intake:
    """Rows read so far, each known by when it came, from 0.

    most: how many rows there may be; too_large: the sentence for more. columns: what they hold,
    once all of them are ``settled``.
    """

    function: str
    statement: Statement
    most: int
    too_large: str
    rows: int = 0
    chunks: list[pa.Array] = field(default_factory=list)
    columns: dict[str, pa.Array] = field(default_factory=dict)
    touched: float = field(default_factory=time.monotonic)

    def settled(self, taken: npt.NDArray[np.int32], workers: Workers) -> dict[str, pa.Array]:
        """The columns, rows in the order of ``taken``, int32[n]: when each came. Text is coded.

        Raises AnonError where a row that came is not among them, or is twice.
        """
        begins = np.append(0, np.flatnonzero(np.diff(taken) != 1) + 1)[: len(taken)]
        lengths = np.diff(begins, append=len(taken))  # of runs that came one after the other
        in_turn = np.argsort(taken[begins])
        came = np.cumsum(lengths[in_turn]) - lengths[in_turn]
        if len(taken) != self.rows or (taken[begins][in_turn] != came).any():
            raise AnonError(
                self.function,
                "every row must be read once",
                f"{self.rows:,} read and {len(taken):,} held",
                "nothing was released; please report this",
            )
        order = pa.array(taken) if len(begins) > 1 else None
        read = pa.chunked_array(self.chunks)
        jobs = [(values, order) for values in read.flatten()]
        found = workers.map(_whole, jobs, [self.rows] * len(jobs))
        self.chunks.clear()
        self.columns = dict(zip((column.name for column in read.type), found, strict=True))
        return self.columns


def start(function: str, statement: Statement, most: int, too_large: str) -> int:
    """The number of a new intake; those that nobody will ask for any more are forgotten."""
    now = time.monotonic()
    with _lock:
        for number, other in list(_open.items()):
            same = replace(other.statement, number=statement.number) == statement
            if (same and other.statement != statement) or now - other.touched > HOUR:
                del _open[number]
        number = next(_numbers)
        _open[number] = Intake(function, statement, most, too_large)
    return number


def add(number: int, rows: pa.ChunkedArray) -> int:
    """Keep some rows, structs; when the first of them came. Raises AnonError where memory would not
    do."""
    with _lock:
        intake = _known(number)
        first = intake.rows
        intake.rows += len(rows)
        intake.chunks.extend(rows.chunks)
        intake.touched = time.monotonic()
        if intake.rows > intake.most:
            del _open[number]
            function, _, rule = intake.too_large.partition(": ")
            raise AnonError(function, rule)
    return first


def claim(number: int) -> Intake:
    """The intake, which is forgotten unless it is given ``back``."""
    with _lock:
        intake = _known(number)
        del _open[number]
    return intake


def back(number: int, intake: Intake) -> None:
    """Give back what was claimed, for the next that asks."""
    intake.touched = time.monotonic()
    with _lock:
        _open[number] = intake


def _known(number: int) -> Intake:
    if number not in _open:
        raise AnonError(
            "anon_sql",
            "a release must find the rows it has read",
            "none: its connection went on to another, or an hour went by",
            "nothing was released; run it again",
        )
    return _open[number]


def _whole(values: pa.ChunkedArray, order: pa.Array | None) -> pa.Array:
    """One array of a column's chunks, in an order of its own."""
    plain(values)
    if any(is_text(values.type) for is_text in _TEXTS):
        values = values.dictionary_encode()
    elif pa.types.is_dictionary(values.type):
        values = values.unify_dictionaries()
    whole = values.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks)
    return whole if order is None else whole.take(order)
