"""A progress bar for work that takes more than a moment; nothing where stderr is no terminal."""

import sys
import time
from types import TracebackType
from typing import Any

PATIENCE = 1.0  # seconds before a bar appears


class Progress:
    """Counts finished work. Rich is imported only when a bar is due."""

    def __init__(self, function: str, total: int):
        self.function, self.total = function, max(total, 1)
        self.done, self.started = 0, time.monotonic()
        self.bar: Any = None
        self.task: Any = None

    def __enter__(self) -> "Progress":
        return self

    def advance(self, size: int) -> None:
        self.done += size
        if self.bar is None:
            late = time.monotonic() - self.started > PATIENCE
            if not late or self.done >= self.total or not sys.stderr.isatty():
                return
            from rich.console import Console
            from rich.progress import Progress as Bar

            self.bar = Bar(console=Console(stderr=True), transient=True)
            self.task = self.bar.add_task(self.function, total=self.total)
            self.bar.start()
        self.bar.update(self.task, completed=self.done)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self.bar is not None:
            self.bar.stop()
