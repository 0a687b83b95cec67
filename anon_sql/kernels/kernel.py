"""The decorator of every kernel, and what kernels ask of the process that runs them."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

from anon_sql.kernels import compile_watchers, numba_internals


def kernel(
    function: Any = None,
    *,
    widened: bool = False,
    borrows: bool = False,
    inlined: bool = False,
    **options: Any,
) -> Any:
    """Return a function compiled by numba, kept on disk, that runs without the GIL.

    To compile less, no wrapper for callbacks from C is made where numba can leave it out, and
    division by zero does not raise. widened: what another kernel passes as a small or constant
    integer is compiled as int64 only, where numba can be told so. borrows: it makes and returns no
    array and calls only kernels that do not either, so that references to arrays, which its caller
    holds, need not be counted, where numba can leave that out; if it does make one, it fails to
    compile. inlined: it becomes part of the kernels that call it, where numba can be told so;
    to pass some forty arrays takes longer than what many a kernel does with them.
    """
    if function is None:
        return partial(kernel, widened=widened, borrows=borrows, inlined=inlined, **options)
    always = {"nogil": True, "error_model": "numpy", **numba_internals.OPTIONS}
    always |= numba_internals.inlines(inlined)
    if borrows:
        always |= numba_internals.BORROWED
    made = numba_internals.on_disk(function, **always, **options)
    return numba_internals.widen(made) if widened else made


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


class Timer:
    """Adds up the seconds of compiling, and informs ``compile_watchers``.

    A compilation within another one counts once.
    """

    def __init__(self) -> None:
        self.total, self.began, self.depth = 0.0, 0.0, 0

    def start(self) -> None:
        """Begin a compilation."""
        if self.depth == 0:
            _watched(True)
            self.began = time.monotonic()
        self.depth += 1

    def end(self, function: Any = None, kinds: str = "") -> None:
        """End the compilation that began last."""
        self.depth -= 1
        if self.depth == 0:
            self.total += time.monotonic() - self.began
            _watched(False)


def _watched(begins: bool) -> None:
    """Inform the watchers; they stop watching what is interrupted before it begins."""
    try:
        for watch in compile_watchers:
            watch(begins)
    except BaseException:
        for watch in compile_watchers:
            watch(False)
        raise


timer = Timer()
numba_internals.on_compile(timer.start, timer.end)


def compile_seconds() -> float:
    """Return the seconds spent compiling since this module was imported, until this moment.

    They are 0 where numba does not tell when it compiles.
    """
    going = time.monotonic() - timer.began if timer.depth else 0.0
    return timer.total + going
