"""Report the steps of a call to its listener."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

STEP_SECONDS = 0.1  # between two steps that are told, unless the work changes
COMPILING = "compiling kernels, once on this machine"  # the beginning of a note


@dataclass(frozen=True)
class Step:
    """The present step of a call.

    function: the function that works.
    done, total: finished work, or seconds of a search with a time limit; total is None if it is
        unknown.
    note: the present step; '' if the name of the function is enough.
    seconds: since the listener began to listen.
    """

    function: str
    done: float = 0.0
    total: float | None = None
    note: str = ""
    seconds: float = 0.0

    @property
    def compiles(self) -> bool:
        """Return whether kernels are compiled, which ``done`` and ``total`` count."""
        return self.note.startswith(COMPILING)

    @property
    def finished(self) -> bool:
        """Return whether all of the counted work is done."""
        return self.total is not None and self.done >= self.total


def compiling(function: str, done: int, total: int | None) -> Step:
    """Return the step of a call while kernels are compiled; done, total: kernels."""
    note = COMPILING if total is None else f"{COMPILING}: {done} of {total}"
    return Step(function, done, total, note)


class Listener:
    """Passes the steps of a call to a callback, one at a time; any thread may report one.

    An error of ``callback`` does not stop the call: it is stored, and no more steps are passed.
    """

    def __init__(self, callback: Callable[[Step], None]):
        self.callback = callback
        self.error: BaseException | None = None
        self._lock = threading.RLock()
        self._started = time.monotonic()
        self._last_seconds = -STEP_SECONDS
        self._last: Step | None = None
        self._work: Step | None = None  # the last step but those of compiling
        self._counts = False  # whether it is one of work that is counted, and goes on
        self._cover: tuple[Step, threading.Event] | None = None
        self._closed = False

    @property
    def function(self) -> str:
        """Return the function of the last step, '' before the first."""
        return self._last.function if self._last is not None else ""

    def tell(self, function: str, done: float, total: float | None, note: str) -> None:
        """Report work that is counted."""
        with self._lock:
            self._tell(Step(function, done, total, note))
            self._counts = True

    def look(self, function: str) -> None:
        """Report that a function still works; counted work that it may be part of is reported
        again."""
        with self._lock:
            counted_work = self._work if self._counts else None
            self._tell(counted_work or Step(function))

    def end(self) -> None:
        """Note that counted work has ended; the function may have other work left."""
        with self._lock:
            self._counts = False
            if self._work is not None and self._work.finished:
                self._tell(Step(self._work.function))

    def cover(self, step: Step, ended: threading.Event) -> None:
        """Report another step instead of all others until ``ended`` is set."""
        with self._lock:
            self._cover = step, ended
            self._tell(self._work)

    def uncover(self, ended: threading.Event) -> None:
        """Report the work that ``cover`` has replaced, unless another step replaces it."""
        with self._lock:
            if self._cover is not None and self._cover[1] is ended:
                step, self._cover = self._cover[0], None
                counted = self._work if self._counts else None
                self._tell(counted or Step(step.function))

    def close(self) -> None:
        """Report nothing from now on, after a callback that runs in another thread has ended."""
        with self._lock:
            self._closed = True

    def _tell(self, step: Step | None) -> None:
        self._work = step
        if self._cover is not None and not self._cover[1].is_set():
            step = self._cover[0]
        if step is None:
            return
        last, seconds = self._last, time.monotonic() - self._started
        self._last = step
        same = last is not None and (last.function, last.note) == (step.function, step.note)
        finished = step.finished or (last is not None and last.finished)
        if self.error is not None or self._closed:
            return
        if same and not finished and seconds - self._last_seconds < STEP_SECONDS:
            return
        self._last_seconds = seconds
        try:
            self.callback(replace(step, seconds=seconds))
        except BaseException as error:
            self.error = error
