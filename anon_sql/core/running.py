"""Run long work: threads, progress and the notice of compilation.

Kernels run on a fixed number of threads, with a progress bar, and stop on request. They release the
GIL, and their results depend only on their arguments, so a release does not depend on the order in
which threads run them.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, nullcontext, suppress
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, TypeVar

from anon_sql import kernels
from anon_sql.core.listening import Listener, Step, compiling
from anon_sql.core.stopping import Stop, check, current, work

PATIENCE = 1.0  # seconds before a bar appears
_open = threading.local()
T = TypeVar("T")


@contextmanager
def silent() -> Iterator[None]:
    """Show no progress of the work that this thread does meanwhile."""
    before, _open.progress = getattr(_open, "progress", None), _Silent("", None)
    try:
        yield
    finally:
        _open.progress = before


def heard_by() -> Listener | None:
    """Return the listener of the call that this thread works for; None without one."""
    call = current()
    return None if call is None else call.listener


class Progress:
    """A progress bar that counts finished work, or elapsed seconds of a search with a time limit.

    Within another Progress of the same thread nothing is shown, but the outer bar is refreshed. If
    the call has a listener, the steps go to it, and no bar is shown. ``rich`` is imported only when
    a bar appears.

    total: the amount of work, None if unknown.
    seconds: the time limit; with it, the bar shows time instead of work.
    note: text shown after the name of the function.
    """

    def __init__(self, function: str, total: int | None, seconds: float | None = None):
        self.function, self.seconds, self.note = function, seconds, ""
        self.total = seconds if seconds is not None else total if total is None else max(total, 1)
        self.done: float = 0
        self.started = time.monotonic()
        self.bar: Any = None
        self.task: Any = None
        self.outer: Progress | None = None  # the enclosing bar of this thread, if any
        self._drawing = threading.Lock()
        self._stopped = False

    def __enter__(self) -> "Progress":
        self.outer = getattr(_open, "progress", None)
        _open.progress = self.outer or self
        return self

    def show(self, note: str) -> None:
        """Show what is done now."""
        self.note = note
        self.advance(0)

    def advance(self, size: int) -> None:
        """Count finished work; show or refresh the bar."""
        self.done += size
        if self.outer is not None:
            self.outer.advance(0)
            return
        elapsed = time.monotonic() - self.started
        done = self.done if self.seconds is None else elapsed
        if (listener := heard_by()) is not None:
            listener.tell(self.function, done, self.total, self.note)
            return
        step = Step(self.function, done, self.total, self.note)
        if self.bar is not None or (elapsed > PATIENCE and not step.finished):
            self.draw(step)

    def draw(self, step: Step) -> None:
        """Show a step on the bar, on a terminal; threads may draw at the same time."""
        with self._drawing:
            if self._stopped or (self.bar is None and not sys.stderr.isatty()):
                return
            if self.bar is None:
                from rich.console import Console
                from rich.progress import Progress as Bar

                self.bar = Bar(console=Console(stderr=True), transient=True)
                self.task = self.bar.add_task(self.function, total=self.total)
                self.bar.start()
            text = f"{step.function} {step.note}".rstrip()
            self.bar.tasks[0].total = step.total  # ``update`` takes None for no change
            self.bar.update(self.task, completed=step.done, description=text)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.outer is None:
            _open.progress = None
        self.stop()

    def stop(self) -> None:
        """Remove the bar, if one is shown."""
        if self.outer is None and (listener := heard_by()) is not None:
            listener.end()
        with self._drawing:
            self._stopped = True
            if self.bar is not None:
                self.bar.stop()


class _Silent(Progress):
    """The enclosing bar of work that shows none."""

    def advance(self, size: int) -> None:
        """Show nothing."""

    def draw(self, step: Step) -> None:
        """Show nothing."""


TICK = 0.2  # seconds between two looks at what is compiled


class _Compiling:
    """Shows that a thread compiles a kernel, from another thread.

    The thread that compiles holds the lock of numba. It must not call a listener, which may
    wait for a thread that compiles.
    """

    def __init__(self, stop: Stop | None, progress: Progress | None):
        self.listener = None if stop is None else stop.listener
        heard_of = self.listener.function if self.listener is not None else ""
        self.function = (stop.function if stop is not None else "") or heard_of or "anon_sql"
        self.progress, self.inner = progress, progress is not None
        # imported here, because the other thread must not wait for a lock of numba
        self.count, self.seconds = kernels.ahead.compiled, kernels.kernel.compile_seconds
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._show, daemon=True)

    def end(self) -> None:
        """End the step; wait until a bar of its own is gone, or it would remove other output."""
        self.ended.set()
        if self.listener is None and self.thread.is_alive():
            self.thread.join()

    def _show(self) -> None:
        while not self.ended.wait(TICK):
            step = compiling(self.function, *self.count())
            if self.listener is not None:
                self.listener.cover(step, self.ended)
            elif self.seconds() > PATIENCE:
                self.progress = self.progress or Progress(self.function, None)
                self.progress.draw(step)
        if self.listener is not None:
            time.sleep(TICK)  # the next kernel is compiled soon
            self.listener.uncover(self.ended)
        elif self.progress is not None and not self.inner:
            self.progress.stop()


def _watch_compiling(begins: bool) -> None:
    """Begin or end the step of a kernel that this thread compiles for a call."""
    if begins:
        stop, progress = current(), getattr(_open, "progress", None)
        heard = stop is not None and stop.listener is not None
        if heard or ((stop or progress) is not None and sys.stderr.isatty()):
            _open.compiling = _Compiling(stop, progress)
            with suppress(RuntimeError):  # no other thread can be started
                _open.compiling.thread.start()
    elif (shown := _open.__dict__.pop("compiling", None)) is not None:
        shown.end()


kernels.compile_watchers.append(_watch_compiling)
NOTICE = "anon_sql: compiling its kernels, once on this machine; this can take two minutes …\n"


def announce() -> None:
    """Write NOTICE to stderr, piped or not, if no compiled kernel is cached on disk."""
    if not kernels.parallel.any_compiled():
        sys.stderr.write(NOTICE)
        sys.stderr.flush()


def aside(function: str, call: Callable[[], T]) -> T:
    """Return ``call()`` of another library, which cannot be divided, from a thread of its own.

    A stop leaves that thread behind: it works on to the end of the call, and its result is lost.
    Raises AnonError if the call of the function is to stop.
    """
    result: Future[T] = Future()

    def run() -> None:
        try:
            result.set_result(call())
        except BaseException as error:
            result.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    while not wait([result], timeout=0.1).done:
        check(function)
    return result.result()


def _within(progress: Progress, stop: Stop | None, call: Callable[..., T], *job: Any) -> T:
    """Return ``call(*job)``, done for a call by a thread of a pool that a progress counts."""
    _open.progress = progress
    return work(stop, call, *job)


MIN_THREADED_WORK = (
    10_000  # size of all jobs; for less, starting threads takes longer than it saves
)


class Workers:
    """The threads of one call of a SQL function.

    function: its name, for the progress bar and errors. threads: number of threads. progress: a bar
    shared by several calls of ``map``; None for a new bar in each call.
    """

    def __init__(self, function: str, threads: int = 1, progress: Progress | None = None):
        self.function = function
        self.threads = max(1, threads)
        self.progress = progress

    def map(
        self, call: Callable[..., Any], jobs: Sequence[tuple[Any, ...]], sizes: Sequence[int]
    ) -> list[Any]:
        """Return ``call(*job)`` for every job, in the order of the jobs.

        sizes: the work of each job, for the progress bar; 0 each if the bar does not count it and
        jobs are large. Raises AnonError if the call is to stop.
        """
        kept = nullcontext(self.progress) if self.progress is not None else None
        with kept or Progress(self.function, sum(sizes)) as progress:
            if self.threads == 1 or len(jobs) == 1 or 0 < sum(sizes) < MIN_THREADED_WORK:
                results = []
                for job, size in zip(jobs, sizes, strict=True):
                    check(self.function)
                    results.append(call(*job))
                    progress.advance(size)
                return results
            stop, ended = current(), SimpleQueue[Future[Any]]()
            with ThreadPoolExecutor(self.threads) as pool:
                shared = getattr(_open, "progress", progress)
                futures = {
                    pool.submit(_within, shared, stop, call, *job): i for i, job in enumerate(jobs)
                }
                for future in futures:
                    future.add_done_callback(ended.put)
                running = len(futures)
                try:
                    while running > 0:
                        with suppress(Empty):
                            progress.advance(sizes[futures[ended.get(timeout=0.2)]])
                            running -= 1
                        check(self.function)
                except BaseException:
                    pool.shutdown(wait=True, cancel_futures=True)
                    raise
                return [future.result() for future in futures]

    def repeat(self, call: Callable[..., int], job: tuple[Any, ...], size: int) -> None:
        """Repeat ``call(*job)`` until it returns 0, the work that remains of ``size``.

        This is for sequential work, divided into calls short enough to stop on request. Raises
        AnonError if the call is to stop.
        """
        with Progress(self.function, size) as progress:
            remaining = size
            while remaining > 0:
                check(self.function)
                before, remaining = remaining, int(call(*job))
                progress.advance(before - remaining)
