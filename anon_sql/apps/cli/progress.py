"""Show the progress of a command on stderr: as a bar on a terminal, as lines in a pipe."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from typing import Annotated, Any

import duckdb
import typer

import anon_sql
from anon_sql.apps.cli.console import stoppable
from anon_sql.core import stopping
from anon_sql.core.listening import Listener, Step
from anon_sql.core.running import PATIENCE

EVERY = 5.0  # seconds between two lines


class Shown(StrEnum):
    """How progress is shown."""

    BAR = "bar"
    LINES = "lines"
    NONE = "none"


Progress = Annotated[
    Shown | None,
    typer.Option(
        "--progress",
        help="Progress on stderr. Default: a bar on a terminal, else a line every five seconds.",
        show_default=False,
    ),
]


def showing(command: str, how: Shown | None, work: Callable[[], None]) -> Callable[[], None]:
    """Return some work that shows its progress."""

    def shown_work() -> None:
        with shown(command, how):
            work()

    return shown_work


def on_database(
    command: str, how: Shown | None, work: Callable[[duckdb.DuckDBPyConnection], None]
) -> None:
    """Do some work on a new database, show its progress, and let Ctrl-C stop it."""
    with anon_sql.connect() as con:
        stoppable(con, showing(command, how, partial(work, con)))


@contextmanager
def shown(command: str, how: Shown | None) -> Iterator[None]:
    """Show what the call of this thread does meanwhile."""
    how = how or (Shown.BAR if sys.stderr.isatty() else Shown.LINES)
    stop = stopping.current()
    if stop is None:
        yield
        return
    if how is Shown.NONE:
        stop.listener = Listener(lambda step: None)
        yield
        return
    with _Lines(command) if how is Shown.LINES else _Bar(command) as display:
        stop.listener = listener = Listener(display.take)
        try:
            yield
        finally:
            listener.close()


class _Display:
    """What a command does just now.

    whole: the last step of the command itself, which counts its sections; within: that of a
    function that it calls.
    """

    def __init__(self, command: str):
        self.command = command
        self.started = time.monotonic()
        self.whole: Step | None = None
        self.within: Step | None = None

    def take(self, step: Step) -> None:
        """Take a step."""
        if step.function == self.command and not step.compiles:
            self.whole, self.within = step, None
        else:
            self.within = step

    @property
    def sections(self) -> bool:
        """Return whether the command counts its sections, not rows."""
        return bool(self.section)

    @property
    def section(self) -> str:
        """Return the section that the command is in, '' where it counts none."""
        return "" if self.whole is None else self.whole.note

    def text(self) -> str:
        """Return what is done, without the time."""
        parts = [self.command]
        if self.whole is not None and self.sections:
            parts += [f"{self.whole.done:.0f}/{self.whole.total or 0:.0f}", self.whole.note]
        step = self.whole if self.within is None and not self.sections else self.within
        if step is not None:
            parts += [step.function] if step.function != self.command else []
            total = None if step.compiles else step.total  # its note has the numbers
            parts += [f"{min(step.done / total, 1):.0%}"] if total else []
            noted = step.note and (step.function != self.command or step.compiles)
            parts += [step.note] if noted else []
        return " ".join(parts)


class _Lines(_Display):
    """A line every few seconds, and one per section once the first is due."""

    def __enter__(self) -> "_Lines":
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()
        return self

    def _write(self) -> None:
        due, last = EVERY, self.section
        while not self._ended.wait(min(EVERY, 0.2)):
            elapsed = time.monotonic() - self.started
            if elapsed < EVERY or not (elapsed >= due or self.section != last):
                continue
            last, due = self.section, elapsed + EVERY
            line = f"{self.text()} {int(elapsed) // 60}:{int(elapsed) % 60:02}\n"
            sys.stderr.write(line)
            sys.stderr.flush()

    def __exit__(self, *raised: object) -> None:
        self._ended.set()
        self._thread.join()


class _Bar(_Display):
    """A bar on a terminal."""

    def __enter__(self) -> "_Bar":
        self.bar: Any = None
        self.task: Any = None
        return self

    def take(self, step: Step) -> None:
        super().take(step)
        if self.bar is None:
            if time.monotonic() - self.started <= PATIENCE:
                return
            from rich.console import Console
            from rich.progress import Progress as Bar

            self.bar = Bar(console=Console(stderr=True), transient=True)
            self.task = self.bar.add_task(self.command, total=None)
            self.bar.start()
        counted = self.whole if self.sections else self.within or self.whole
        done, total = (0.0, None) if counted is None else (counted.done, counted.total)
        self.bar.tasks[0].total = total  # ``update`` takes None for no change
        self.bar.update(self.task, completed=done, description=self.text())

    def __exit__(self, *raised: object) -> None:
        if self.bar is not None:
            self.bar.stop()
