"""Free memory goes back to the system where the C library can, and nothing fails elsewhere."""

import ctypes
import re
from pathlib import Path

import pytest

from anon_sql.core import arrow
from anon_sql.core.arrow import return_memory

pytestmark = pytest.mark.quick

STATUS = Path("/proc/self/status")


def held():
    """Return the bytes of memory that the process has now."""
    return 1024 * int(re.search(r"VmRSS:\s+(\d+) kB", STATUS.read_text("ascii"))[1])


@pytest.mark.skipif(
    not STATUS.is_file() or not hasattr(ctypes.CDLL(None), "malloc_trim"),
    reason="needs /proc and glibc",
)
def test_freed_blocks_go_back():
    allocate, free = ctypes.CDLL(None).malloc, ctypes.CDLL(None).free
    allocate.restype, free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    blocks = [allocate(100_000) for _ in range(1_000)]
    for block in blocks:
        ctypes.memset(block, 1, 100_000)
    for block in blocks[:-1]:  # the last keeps the heap from being shortened
        free(block)
    before = held()
    return_memory()
    after = held()
    free(blocks[-1])
    assert before - after > 50 * 10**6


@pytest.mark.parametrize("library", [object(), OSError("none"), TypeError("none")])
def test_other_c_libraries(library, monkeypatch):
    def load(_):
        if isinstance(library, Exception):
            raise library
        return library

    monkeypatch.setattr(ctypes, "CDLL", load)
    assert arrow._trim.__wrapped__() is None
    monkeypatch.setattr(arrow, "_trim", arrow._trim.__wrapped__)
    return_memory()
