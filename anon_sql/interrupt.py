"""Ctrl-C while a kernel runs: DuckDB waits for its functions, so they look at a flag themselves."""

import signal
import threading
from typing import Any

from anon_sql.errors import AnonError

_asked = threading.Event()


def listen() -> None:
    """Set the flag on SIGINT, then do what was done before; only the main thread may ask for it."""
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
    """Stop the call that runs, as Ctrl-C does."""
    _asked.set()


def begin() -> None:
    """Forget an earlier Ctrl-C: a new call of the user starts."""
    _asked.clear()


def check(function: str) -> None:
    """Raise AnonError if it was asked to stop since ``begin``."""
    if _asked.is_set():
        raise AnonError(function, "stopped on request", hint="nothing was released")
