"""Choose how many rows a region has and how many regions are released at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil

import duckdb

from anon_sql.core.options import Whole
from anon_sql.errors import AnonError
from anon_sql.hosts.duckdb.memory import available, bytes_a_row
from anon_sql.hosts.parts.checked_call import Asked

ROWS = 500_000  # of a region: as many lose no quality,
CLASSES = 5_000  # if they are k rows of so many classes
_LEAST = 100_000  # rows of a region that are worth fewer regions at a time
_PROCESS = 500 << 20  # bytes of Python, the kernels and DuckDB before any row
_SHARE = 0.8  # of the memory that may be planned for


@dataclass(frozen=True)
class Budget:
    """wanted, most: rows of a region, as ``planning.plan`` takes them. threads: regions at once."""

    wanted: int
    most: int
    threads: int


def fits(asked: Asked, rows: int) -> bool:
    """Return whether so many rows fit into memory in one statement."""
    return rows * bytes_a_row(asked.request) <= available(asked.memory)


def budget(asked: Asked, rows: int, regions: int | None, region_rows: int | None) -> Budget:
    """Return the sizes for a table of so many rows.

    regions, region_rows: number of regions or rows of a region; at most one may be given.
    """
    function = asked.request.function
    if regions is not None and region_rows is not None:
        raise AnonError(function, "the number of regions or their rows may be given", "both")
    free = max(int(_SHARE * available(asked.memory)) - _PROCESS, 0)
    room = free // bytes_a_row(asked.request)  # rows of all regions that are released at a time
    threads = max(1, min(asked.threads, room // _LEAST))
    most = max(room // threads, 1)
    wanted = min(max(ROWS, CLASSES * asked.request.k), most)
    if region_rows is not None:
        wanted = Whole(1).read(function, "region_rows", region_rows)
    elif regions is not None:
        wanted = max(1, ceil(rows / Whole(1).read(function, "regions", regions)))
    return Budget(wanted, max(most, wanted), threads)


@contextmanager
def limited(con: duckdb.DuckDBPyConnection, limit: str | None) -> Iterator[None]:
    """Set DuckDB's ``memory_limit`` meanwhile; None leaves it as it is."""
    if limit is None:
        yield
        return
    shown = con.execute("SELECT current_setting('memory_limit')").fetchall()[0][0]
    number, _, unit = shown.partition(" ")  # cut off after one decimal
    before = f"{float(number) + 0.05:.2f} {unit}"
    con.execute("SET memory_limit = ?", [limit])
    try:
        yield
    finally:
        con.execute("SET memory_limit = ?", [before])
