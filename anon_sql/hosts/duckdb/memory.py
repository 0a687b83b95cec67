"""Estimate how many rows of a table fit into memory, before any is read."""

import os
import re
from pathlib import Path

from anon_sql.pipeline.request import Request

# Measured: three million rows of 8 quasi-identifiers, from and into Parquet, take 332 bytes a row
# with 1 kept column, 383 with 3 and 439 to 477 with 5; 422 with suppression_limit, 538 with l and
# 511 with t. Ten million with 1 take 304. The estimate is a fifth above that, for longer texts.
_ROW = 70  # bytes a row costs whatever its columns: order, classes, hashes, the output's index
_QUASI = 35  # bytes a value of a quasi-identifier costs: Arrow's copy, arrays, the label
_KEPT = 45  # bytes a value that is released as it is costs: DuckDB's list and the output
_SEARCH = 230  # bytes a row costs where classes are searched under l, t, persons or a limit
# Measured with benchmarks/audit.py: ten million rows of 8 quasi-identifiers and 1 or 2 others.
_AUDITED = 60  # bytes a raw row and its released row cost an audit whatever their columns
_NUMBER = 4  # bytes a quasi-identifier costs an audit
_HASHES = 20  # bytes another column costs an audit, of both rows
_LINUX = Path("/proc/meminfo")


def _unused() -> int:
    """Return the bytes that the system can give, caches that it would drop included."""
    if _LINUX.is_file():
        found = re.search(r"^MemAvailable:\s+(\d+) kB", _LINUX.read_text("ascii"), re.MULTILINE)
        if found:
            return int(found[1]) * 1024
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def available(limit: str | None) -> int:
    """Return the bytes that may be used: DuckDB's limit or what the system can give, if less."""
    free = _unused()
    number, _, unit = (limit or "").partition(" ")
    powers = {"bytes": 0, "KiB": 1, "MiB": 2, "GiB": 3, "TiB": 4, "PiB": 5}
    return min(free, int(float(number) * 1024 ** powers[unit])) if unit in powers else free


def bytes_a_row(asked: Request) -> int:
    """Return the bytes that a release takes for a row."""
    searched = asked.protected or asked.entity or asked.options.get("suppression_limit")
    columns = _QUASI * len(asked.quasi) + _KEPT * len(asked.kept)
    return _ROW + columns + (_SEARCH if searched else 0)


def room(asked: Request, limit: str | None) -> tuple[int, str]:
    """Return how many rows fit into memory, and the rest of the sentence for more.

    limit: DuckDB's setting ``memory_limit``.
    """
    row = bytes_a_row(asked)
    free = available(limit)
    rows = free // row
    return rows, (
        f"more than {rows:,} rows, which is what fits into the {free / 1024**3:.1f} GiB of memory "
        f"there are at about {row:,} bytes a row; raise memory_limit, or release it in parts: "
        "anon_sql.release(con, …) or anon-sql release"
    )


def audited_rows(quasi: int, others: int) -> int:
    """Return how many rows of each relation of an audit fit into memory.

    quasi, others: numbers of columns. DuckDB's setting ``memory_limit`` does not count, since rows
    are held outside of DuckDB.
    """
    return available(None) // (_AUDITED + _NUMBER * quasi + _HASHES * others)
