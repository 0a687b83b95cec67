"""What this package uses of numba beyond what numba promises. No other file does.

Each part has a plain way without it. A probe looks, once at import, whether the part is as this
file knows it; the plain way is taken where it is not, and of every part where ANON_SQL_PLAIN_NUMBA
is set. Both ways make the same releases, and read what the other has compiled.
``tests/kernels/test_numba_internals.py`` names the part that a new numba has changed.
"""

import inspect
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from numba import njit, types

VARIABLE = "ANON_SQL_PLAIN_NUMBA"  # of the environment: any text but '' and '0'
PLAIN = os.environ.get(VARIABLE, "") not in ("", "0")


def _holds(probe: Callable[[], bool]) -> bool:
    """Return whether a part is as its probe expects it: not, whatever a changed numba raises."""
    try:
        return not PLAIN and probe()
    except Exception:
        return False


def _nothing() -> None:
    """Do nothing: a function for probes, which is never compiled."""


def _takes(function: Any, *names: str) -> bool:
    return tuple(inspect.signature(function).parameters) == names


# -- A kernel without a wrapper for callbacks from C. Plain: with one.


def _knows_no_cfunc_wrapper() -> bool:
    from numba.core.registry import cpu_target

    return hasattr(cpu_target.options, "no_cfunc_wrapper")


NO_WRAPPER = _holds(_knows_no_cfunc_wrapper)
OPTIONS = {"no_cfunc_wrapper": True} if NO_WRAPPER else {}  # of njit


# -- One compilation of a kernel for all whole numbers. Plain: one for each type that is passed.


def _widened(kind: Any) -> Any:
    """Return int64 for a type of signed integers and bool for that of a constant one."""
    kind = types.unliteral(kind)
    return types.int64 if kind in types.signed_domain else kind


def _asks_for_templates() -> bool:
    dispatcher = njit(_nothing)
    dispatcher.get_call_template = found = dispatcher.get_call_template  # it can be replaced
    kinds = (types.int8, types.literal(3), types.literal(True), types.uint8, types.float64)
    widened = [types.int64, types.int64, types.boolean, types.uint8, types.float64]
    return _takes(found, "args", "kws") and [_widened(kind) for kind in kinds] == widened


WIDENS = _holds(_asks_for_templates)


def widen(kernel: Any) -> Any:
    """Compile a kernel for int64 only where another kernel passes a small or constant integer."""
    if WIDENS:
        template = kernel.get_call_template

        def of_widened(args: Any, kws: Any) -> Any:
            wide = {name: _widened(kind) for name, kind in kws.items()}
            return template(tuple(map(_widened, args)), wide)

        kernel.get_call_template = of_widened
    return kernel


# -- What numba says while it compiles. Plain: nothing is known of it.


def _tells() -> bool:
    from numba.core import event

    return (
        _takes(event.register, "kind", "listener")
        and _takes(event.Listener.on_start, "self", "event")
        and _takes(event.Listener.on_end, "self", "event")
    )


TELLS = _holds(_tells)


def on_compile(started: Callable[[], None], ended: Callable[[Any, str], None]) -> None:
    """Call two functions whenever numba compiles, under its lock: one thread at a time.

    A compilation may be within another one. ended: takes the Python function, None if it is not
    known, and its types. Neither is ever called where numba does not tell.
    """
    if not TELLS:
        return
    from numba.core import event

    class Listener(event.Listener):  # type: ignore[misc]
        def on_start(self, event: Any) -> None:
            started()

        def on_end(self, event: Any) -> None:
            details = event.data or {}
            function = getattr(details.get("dispatcher"), "py_func", None)
            ended(function, str(details.get("args", "")))

    event.register("numba:compile", Listener())


# -- A lock around each compilation, by which processes share the work. Plain: one process compiles.


def _compiles_under_a_lock() -> bool:
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.dispatcher import Dispatcher

    return (
        _takes(Dispatcher.compile, "self", "sig")
        and type(njit(_nothing)).compile is Dispatcher.compile
        and hasattr(global_compiler_lock, "__enter__")
    )


LOCKS = _holds(_compiles_under_a_lock)


def compile_under(locked: Callable[[str], AbstractContextManager[None]]) -> None:
    """Let this process compile a kernel, or read it from disk, under a lock of the kernel's name.

    Do nothing where numba cannot be told to.
    """
    if not LOCKS:
        return
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.dispatcher import Dispatcher

    dispatcher: Any = Dispatcher
    alone = dispatcher.compile

    def compile_(kernel: Any, sig: Any) -> Any:
        function = kernel.py_func
        with global_compiler_lock, locked(f"{function.__module__}.{function.__qualname__}"):
            return alone(kernel, sig)

    dispatcher.compile = compile_


# -- Where compiled kernels are. Plain: that is not known.


def _index(kernel: Any) -> Path:
    return Path(kernel._cache._cache_file._index_path)


def _knows_its_files() -> bool:
    kernel = njit(_nothing, cache=True)
    return _index(kernel).parent == Path(kernel.stats.cache_path)


FINDS = _holds(_knows_its_files)


def folder_of(kernel: Any) -> Path | None:
    """Return the folder to which numba writes what it compiles of a kernel; None if not known."""
    return Path(kernel.stats.cache_path) if FINDS else None


def index_of(kernel: Any) -> Path | None:
    """Return the file that lists what is compiled of a kernel, which exists if anything is.

    None if not known.
    """
    return _index(kernel) if FINDS else None


def files_of(folder: Path, module: str) -> Iterator[Path]:
    """Yield the files, in a folder and those in it, with what is compiled of a module.

    module: its last name.
    """
    return folder.rglob(f"{module}.*.nb[ic]")
