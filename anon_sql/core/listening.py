"""Tell whoever listens to a call what it does just now."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

OFTEN = 0.1  # seconds between two steps that are told, unless the work changes


@dataclass(frozen=True)
class Step:
    """What a call does just now.

    function: the function that works. done, total: finished work, or seconds of a search with a
    time limit; total is None where it is unknown. note: what it works at, '' where that is its name
    alone. seconds: since somebody began to listen.
    """

    function: str
    done: float = 0.0
    total: float | None = None
    note: str = ""
    seconds: float = 0.0


class Listener:
    """Whoever listens to a call. Threads may tell at the same time; steps come one by one.

    An error of ``callback`` ends neither the call nor the work: it is kept, and nothing more is
    told.
    """

    def __init__(self, callback: Callable[[Step], None]):
        self.callback = callback
        self.error: BaseException | None = None
        self._lock = threading.RLock()
        self._started = time.monotonic()
        self._told = -OFTEN
        self._last: Step | None = None
        self._counts = False  # whether the last step is one of work that is counted, and goes on

    @property
    def function(self) -> str:
        """Return the function that was told of last, '' before the first."""
        return self._last.function if self._last is not None else ""

    def tell(self, function: str, done: float, total: float | None, note: str) -> None:
        """Tell of work that is counted."""
        with self._lock:
            self._tell(Step(function, done, total, note))
            self._counts = True

    def look(self, function: str) -> None:
        """Tell that a function still works; counted work of which it may be part is told again."""
        with self._lock:
            known = self._last if self._counts else None
            self._tell(known or Step(function))

    def end(self) -> None:
        """Note that counted work has ended."""
        with self._lock:
            self._counts = False

    def _tell(self, step: Step) -> None:
        last, seconds = self._last, time.monotonic() - self._started
        self._last = step
        same = last is not None and (last.function, last.note) == (step.function, step.note)
        ended = step.total is not None and step.done >= step.total
        if self.error is not None or (same and not ended and seconds - self._told < OFTEN):
            return
        self._told = seconds
        try:
            self.callback(replace(step, seconds=seconds))
        except BaseException as error:
            self.error = error
