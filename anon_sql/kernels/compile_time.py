"""The time that this process has spent compiling kernels, which no time limit should count."""

import time

from numba.core import event


class _Timer(event.Listener):
    """Adds up the seconds of numba's events; a compilation within another one counts once."""

    def __init__(self) -> None:
        self.total, self.started, self.depth = 0.0, 0.0, 0

    def on_start(self, event: event.Event) -> None:
        if self.depth == 0:
            self.started = time.monotonic()
        self.depth += 1

    def on_end(self, event: event.Event) -> None:
        self.depth -= 1
        if self.depth == 0:
            self.total += time.monotonic() - self.started


_timer = _Timer()
event.register("numba:compile", _timer)  # numba compiles under a lock: one thread at a time


def compile_seconds() -> float:
    """Return the seconds spent compiling since this module was imported, until this moment."""
    going = time.monotonic() - _timer.started if _timer.depth else 0.0
    return _timer.total + going
