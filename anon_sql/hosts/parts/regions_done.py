"""Show how many regions are done and the time left, on stderr."""

import sys
import time
from types import TracebackType
from typing import Any

PATIENCE = 2.0  # seconds before anything is shown
EVERY = 30.0  # seconds between two sentences where stderr is no terminal


class RegionsDone:
    """The progress of a release in parts: a bar on a terminal, else a sentence now and then.

    total: number of regions; rows: of all of them. ``rich`` is imported when a bar appears.
    """

    def __init__(self, function: str, total: int, rows: int):
        self.function, self.total, self.rows = function, total, max(rows, 1)
        self.regions = self.counted = 0
        self.started = self.said = time.monotonic()
        self.bar: Any = None
        self.task: Any = None

    def __enter__(self) -> "RegionsDone":
        return self

    def advance(self, rows: int) -> None:
        """Count a finished region of so many rows; refresh what is shown."""
        self.regions += rows > 0
        self.counted += rows
        now = time.monotonic()
        if now - self.started < PATIENCE:
            return
        if sys.stderr.isatty():
            self._show()
        elif now - self.said > EVERY and rows:
            self.said = now
            sys.stderr.write(f"{self.text(now)}\n")
            sys.stderr.flush()

    def text(self, now: float) -> str:
        """Return the progress as a sentence."""
        left = (now - self.started) * (self.rows - self.counted) / max(self.counted, 1)
        return (
            f"{self.function}: {self.regions} of {self.total} regions done, "
            f"about {left:,.0f} s left"
        )

    def _show(self) -> None:
        if self.bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
            self.bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self.task = self.bar.add_task(self.function, total=self.rows)
            self.bar.start()
        shown = f"{self.function} {self.regions} of {self.total} regions"
        self.bar.update(self.task, completed=self.counted, description=shown)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self.bar is not None:
            self.bar.stop()
