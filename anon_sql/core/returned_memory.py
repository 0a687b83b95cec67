"""Return memory that is free within this process to the operating system."""

import ctypes
from collections.abc import Callable
from functools import cache


def return_memory() -> None:
    """Return the free pages of the C library's heap.

    glibc keeps freed blocks below some 128 KiB for later small ones. The chunks in which DuckDB
    passes rows are such blocks, and the arrays that follow are larger, so that both would count.
    Does nothing with other C libraries.
    """
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    """Return glibc's malloc_trim, None where there is none."""
    try:
        found: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    except (OSError, TypeError):
        return None
    return found
