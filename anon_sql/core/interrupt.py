"""Stop long computations on Ctrl-C.

DuckDB does not interrupt Python functions, so a SIGINT handler sets a flag that they check.
"""

import signal
import threading
from typing import Any

from anon_sql.errors import AnonError

_asked = threading.Event()


def listen() -> None:
    """Install a SIGINT handler that sets the flag and then calls the previous handler.

    Does nothing outside the main thread, where Python does not allow signal handlers.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    before = signal.getsignal(signal.SIGINT)
    if getattr(before, "_anon_sql", False) or not callable(before):
        return

    def handler(number: int, frame: Any) -> Any:
        ask()
        return before(number, frame)

    handler._anon_sql = True  # type: ignore[attr-defined]
    signal.signal(signal.SIGINT, handler)


def ask() -> None:
    """Request that the running call stops, as Ctrl-C does."""
    _asked.set()


def begin() -> None:
    """Clear an earlier request, at the start of a call."""
    _asked.clear()


def check(function: str) -> None:
    """Raise AnonError if a stop was requested since ``begin``."""
    if _asked.is_set():
        raise AnonError(function, "stopped on request", hint="nothing was released")
