"""Show how far a step of a release in parts is and the time left, on stderr."""

import sys
import time
from types import TracebackType

from anon_sql.core.progress import Progress

EVERY = 30.0  # seconds between two sentences where stderr is no terminal


class RowsDone:
    """The progress of a step: a bar on a terminal, else a sentence now and then.

    step: what is done to rows, in one word. total: number of regions, None where the step has none;
    rows: of all of them. It may end in another thread than it began in, as rows that DuckDB asks
    for do, so it is not the enclosing ``Progress`` of a thread.
    """

    def __init__(self, function: str, step: str, rows: int, total: int | None = None):
        self.step, self.rows, self.total = step, max(rows, 1), total
        self.regions = 0
        self.bar = Progress(function, rows)
        self.started = self.said = self.bar.started

    def __enter__(self) -> "RowsDone":
        return self

    def advance(self, rows: int) -> None:
        """Count so many rows, of a region where there are any; refresh what is shown."""
        self.regions += rows > 0
        self.bar.done += rows
        self.bar.note = self._found()
        self.bar.advance(0)
        now = time.monotonic()
        if now - self.said > EVERY and rows and not sys.stderr.isatty():
            self.said = now
            sys.stderr.write(f"{self.text(now)}\n")
            sys.stderr.flush()

    def text(self, now: float) -> str:
        """Return the progress as a sentence."""
        left = (now - self.started) * (self.rows - self.bar.done) / max(self.bar.done, 1)
        return f"{self.bar.function}: {self._found()}, about {left:,.0f} s left"

    def _found(self) -> str:
        if self.total is None:
            return f"{self.bar.done / self.rows:.0%} of the rows {self.step}"
        return f"{self.regions} of {self.total} regions {self.step}"

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.bar.stop()
