"""Release all regions side by side, as many as memory allows, and show how far the work is."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from types import TracebackType

import duckdb

from anon_sql.core import stopping
from anon_sql.core.duckdb_internals.settings import size_to_set
from anon_sql.core.parameters import Whole
from anon_sql.core.running import Progress, heard_by, silent
from anon_sql.errors import AnonError
from anon_sql.hosts.duckdb.rows import available, bytes_a_row
from anon_sql.hosts.parts.call import PartsCall

ROWS = 500_000  # of a region: as many lose no quality,
CLASSES = 5_000  # if they are k rows of so many classes
_MIN_ROWS = 100_000  # rows of a region that are worth fewer regions at a time
_PROCESS = 500 << 20  # bytes of Python, the kernels and DuckDB before any row
_SHARE = 0.8  # of the memory that may be planned for


@dataclass(frozen=True)
class Budget:
    """wanted, most: rows of a region, as ``plan.plan`` takes them. threads: regions at once."""

    wanted: int
    most: int
    threads: int


def budget(call: PartsCall, rows: int, parts: int | None, part_rows: int | None) -> Budget:
    """Return the sizes for a table of so many rows.

    parts, part_rows: number of parts or rows of a region; at most one may be given.
    """
    function = call.request.function
    if parts is not None and part_rows is not None:
        raise AnonError(function, "the number of parts or their rows may be given")
    free = max(int(_SHARE * available(call.memory)) - _PROCESS, 0)
    fitting = free // bytes_a_row(call.request)  # rows of all parts that are released at a time
    threads = max(1, min(call.threads, fitting // _MIN_ROWS))
    most = max(fitting // threads, 1)
    wanted = min(max(ROWS, CLASSES * call.request.k), most)
    if part_rows is not None:
        wanted = Whole(1).read(function, "part_rows", part_rows)
    elif parts is not None:
        wanted = max(1, ceil(rows / Whole(1).read(function, "parts", parts)))
    return Budget(wanted, max(most, wanted), threads)


@contextmanager
def limited(con: duckdb.DuckDBPyConnection, limit: str | None) -> Iterator[None]:
    """Set DuckDB's ``memory_limit`` meanwhile; None leaves it as it is."""
    if limit is None:
        yield
        return
    before = con.execute("SELECT current_setting('memory_limit')").fetchall()[0][0]
    con.execute("SET memory_limit = ?", [limit])
    try:
        yield
    finally:
        con.execute("SET memory_limit = ?", [size_to_set(before)])


EVERY = 30.0  # seconds between two sentences where stderr is no terminal


class RowsDone:
    """The progress of a step: a bar on a terminal, else a sentence now and then.

    step: what is done to rows, in one word. total: number of regions, None where the step has none;
    rows: of all of them. It may end in another thread than it began in, as rows that DuckDB asks
    for do, so it is not the enclosing ``Progress`` of a thread.
    """

    def __init__(self, function: str, step: str, rows: int, total: int | None = None):
        self.step, self.rows, self.total = step, max(rows, 1), total
        self.regions = 0
        self.bar = Progress(function, rows)
        self.started = self.shown_at = self.bar.started

    def __enter__(self) -> "RowsDone":
        return self

    def advance(self, rows: int) -> None:
        """Count so many rows, of a region where there are any; refresh what is shown."""
        self.regions += rows > 0
        self.bar.done += rows
        self.bar.note = self._note()
        self.bar.advance(0)
        now = time.monotonic()
        silent = sys.stderr.isatty() or heard_by() is not None  # a bar, or a command, says it
        if now - self.shown_at > EVERY and rows and not silent:
            self.shown_at = now
            sys.stderr.write(f"{self.text(now)}\n")
            sys.stderr.flush()

    def text(self, now: float) -> str:
        """Return the progress as a sentence."""
        left = (now - self.started) * (self.rows - self.bar.done) / max(self.bar.done, 1)
        return f"{self.bar.function}: {self._note()}, about {left:,.0f} s left"

    def _note(self) -> str:
        if self.total is None:
            return f"{self.bar.done / self.rows:.0%} of the rows {self.step}"
        return f"{self.regions} of {self.total} parts {self.step}"

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.bar.stop()


POLL = 0.2  # seconds between two looks at the token of the call


def side_by_side(
    function: str,
    release: Callable[[int, int], int],
    rows: Mapping[int, int],
    threads: int,
    done: RowsDone,
) -> int:
    """Call ``release(number, rows)`` for every region and return the sum of the results.

    rows: of each region by number. An error or a stop ends the regions that are running.
    """
    largest = sorted(rows, key=lambda number: (-rows[number], number))

    def quietly(number: int) -> int:
        with silent():
            return release(number, rows[number])

    total = 0
    with stopping.call() as stop, ThreadPoolExecutor(threads) as pool:
        running = {pool.submit(stopping.work, stop, quietly, number): number for number in largest}
        waiting = set(running)
        try:
            while waiting:
                ended, waiting = wait(waiting, timeout=POLL, return_when=FIRST_COMPLETED)
                for future in ended:
                    total += future.result()
                    done.advance(rows[running[future]])
                done.advance(0)
                stopping.check(function)
        except BaseException:
            stop.request()
            pool.shutdown(cancel_futures=True)
            raise
    return total
