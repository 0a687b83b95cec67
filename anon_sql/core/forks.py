"""Keep a child of ``fork`` from waiting for threads that only its parent has.

A child has the memory of its parent and one of its threads. A lock that another thread held stays
locked for ever, and a database that was open waits for its threads as it is closed: the child
would hang at its end, or crash.
"""

import ctypes
from threading import RLock
from typing import Any

from anon_sql import system
from anon_sql.errors import AnonError


class ForkLock:
    """A lock, reentrant, that is free in a child whichever thread held it.

    It is registered with the interpreter for ever, so that only modules make one.
    """

    def __init__(self) -> None:
        self._renew()
        system.after_fork_in_child(self._renew)

    def _renew(self) -> None:
        self._lock = RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *raised: object) -> None:
        self._lock.release()


def leave(made: Any) -> None:
    """Never destroy an object of the parent in this process, not even as the interpreter ends."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))


def opened_before() -> AnonError:
    """Return the error for a connection that is used after a fork."""
    return AnonError(
        "anon_sql",
        "a connection must be used by the process that opened it",
        "one opened before a fork",
        "open one in the child",
    )
