"""Show how far a step of a release in parts is and the time left, on stderr."""

import sys
import time
from types import TracebackType
from typing import Any

PATIENCE = 2.0  # seconds before anything is shown
EVERY = 30.0  # seconds between two sentences where stderr is no terminal


class RowsDone:
    """The progress of a step: a bar on a terminal, else a sentence now and then.

    step: what is done to rows, in one word. total: number of regions, None where the step has none;
    rows: of all of them. ``rich`` is imported when a bar appears.
    """

    def __init__(self, function: str, step: str, rows: int, total: int | None = None):
        self.function, self.step, self.rows, self.total = function, step, max(rows, 1), total
        self.regions = self.counted = 0
        self.started = self.said = time.monotonic()
        self.bar: Any = None
        self.task: Any = None

    def __enter__(self) -> "RowsDone":
        return self

    def advance(self, rows: int) -> None:
        """Count so many rows, of a region where there are any; refresh what is shown."""
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
        return f"{self.function}: {self._found()}, about {left:,.0f} s left"

    def _found(self) -> str:
        if self.total is None:
            return f"{self.counted / self.rows:.0%} of the rows {self.step}"
        return f"{self.regions} of {self.total} regions {self.step}"

    def _show(self) -> None:
        if self.bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
            self.bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self.task = self.bar.add_task(self.function, total=self.rows)
            self.bar.start()
        shown = f"{self.function} {self._found()}"
        self.bar.update(self.task, completed=self.counted, description=shown)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self.bar is not None:
            self.bar.stop()
