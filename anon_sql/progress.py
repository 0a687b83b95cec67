"""A progress bar for work that takes more than a moment; nothing where stderr is no terminal."""

import sys
import threading
import time
from types import TracebackType
from typing import Any

PATIENCE = 1.0  # seconds before a bar appears
_open = threading.local()


class Progress:
    """Counts finished work, or the seconds that a search may take; rich comes when a bar is due.

    total: the work there is, None where nobody knows. seconds: if given, the bar shows time
    instead. note: what else the bar shows, beside the function's name. One that is opened within
    another of its thread shows nothing, but lets the other one appear.
    """

    def __init__(self, function: str, total: int | None, seconds: float | None = None):
        self.function, self.seconds, self.note = function, seconds, ""
        self.total = seconds if seconds is not None else total if total is None else max(total, 1)
        self.done: float = 0
        self.started = time.monotonic()
        self.bar: Any = None
        self.task: Any = None
        self.outer: Progress | None = None  # the one that shows, where it is not this

    def __enter__(self) -> "Progress":
        self.outer = getattr(_open, "progress", None)
        _open.progress = self.outer or self
        return self

    def advance(self, size: int) -> None:
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
        said = f"{self.function} {self.note}".rstrip()
        self.bar.update(self.task, completed=done, description=said)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self.outer is None:
            _open.progress = None
        if self.bar is not None:
            self.bar.stop()
