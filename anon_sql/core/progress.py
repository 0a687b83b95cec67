"""Show a progress bar on stderr, if it is a terminal, for work that takes over a second."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

PATIENCE = 1.0  # seconds before a bar appears
_open = threading.local()


@contextmanager
def silent() -> Iterator[None]:
    """Show no progress of the work that this thread does meanwhile."""
    before, _open.progress = getattr(_open, "progress", None), _Silent("", None)
    try:
        yield
    finally:
        _open.progress = before


class Progress:
    """A progress bar that counts finished work, or elapsed seconds of a search with a time limit.

    total: the amount of work, None if unknown. seconds: the time limit; if given, the bar shows
    time instead of work. note: text shown after the name of the function. Within another Progress
    of the same thread nothing is shown, but the outer bar is refreshed. ``rich`` is imported only
    when a bar appears.
    """

    def __init__(self, function: str, total: int | None, seconds: float | None = None):
        self.function, self.seconds, self.note = function, seconds, ""
        self.total = seconds if seconds is not None else total if total is None else max(total, 1)
        self.done: float = 0
        self.started = time.monotonic()
        self.bar: Any = None
        self.task: Any = None
        self.outer: Progress | None = None  # the enclosing bar of this thread, if any

    def __enter__(self) -> "Progress":
        self.outer = getattr(_open, "progress", None)
        _open.progress = self.outer or self
        return self

    def advance(self, size: int) -> None:
        """Count finished work; show or refresh the bar."""
        self.done += size
        if self.outer is not None:
            self.outer.advance(0)
            return
        elapsed = time.monotonic() - self.started
        done = self.done if self.seconds is None else elapsed
        if self.bar is None:
            over = self.total is not None and done >= self.total
            if elapsed <= PATIENCE or over or not sys.stderr.isatty():
                return
            from rich.console import Console
            from rich.progress import Progress as Bar

            self.bar = Bar(console=Console(stderr=True), transient=True)
            self.task = self.bar.add_task(self.function, total=self.total)
            self.bar.start()
        text = f"{self.function} {self.note}".rstrip()
        self.bar.update(self.task, completed=done, description=text)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self.outer is None:
            _open.progress = None
        self.stop()

    def stop(self) -> None:
        """Remove the bar, if one is shown."""
        if self.bar is not None:
            self.bar.stop()


class _Silent(Progress):
    """The enclosing bar of work that shows none."""

    def advance(self, size: int) -> None:
        """Show nothing."""
