"""The decorator of every kernel, and what kernels ask of the process that runs them."""

import gc
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from numba import njit
from numba.core import event, types
from numba.core.types.misc import unliteral

from anon_sql.kernels.processes import keep_on_disk


def kernel(function: Any = None, *, widened: bool = False, **options: Any) -> Any:
    """Return a function compiled by numba, kept on disk, that runs without the GIL.

    To compile less, no wrapper for callbacks from C is made, and division by zero does not raise.
    widened: what another kernel passes as a small or constant integer is compiled as int64 only.
    """
    if function is None:
        return lambda function: kernel(function, widened=widened, **options)
    always = {"nogil": True, "no_cfunc_wrapper": True, "error_model": "numpy"}
    made = njit(function, **always, **options)
    keep_on_disk(made)
    if not widened:
        return made
    template = made.get_call_template

    def of_widened(args: Any, kws: Any) -> Any:
        return template(tuple(map(_widened, args)), {k: _widened(kind) for k, kind in kws.items()})

    made.get_call_template = of_widened
    return made


def _widened(kind: Any) -> Any:
    """Return int64 for a type of signed integers and bool for that of a constant one."""
    kind = unliteral(kind)
    return types.int64 if kind in types.signed_domain else kind


class _WithoutCollector(event.Listener):  # type: ignore[misc]
    """Stops Python's collection of garbage while numba compiles: a tenth of the time."""

    def __init__(self) -> None:
        self.depth, self.collects = 0, False

    def on_start(self, event: event.Event) -> None:
        if self.depth == 0:
            self.collects = gc.isenabled()
            gc.disable()
        self.depth += 1

    def on_end(self, event: event.Event) -> None:
        self.depth -= 1
        if self.depth == 0 and self.collects:
            gc.enable()


event.register("numba:compile", _WithoutCollector())


class Runner(Protocol):
    """Runs jobs of one kernel; ``core.workers.Workers`` does, with progress and Ctrl-C."""

    @property
    def threads(self) -> int:
        """How many jobs run at once, at least 1."""

    def map(
        self, call: Callable[..., Any], jobs: Sequence[tuple[Any, ...]], sizes: Sequence[int], /
    ) -> list[Any]:
        """Return the results of ``call(*job)`` in the order of the jobs; sizes weigh progress."""

    def repeat(self, call: Callable[..., int], job: tuple[Any, ...], size: int, /) -> None:
        """Call until 0 is returned: what is left of the size."""


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
