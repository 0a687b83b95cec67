"""What this package uses of numba beyond what numba promises. No other file does.

Each part has a plain way without it. A probe looks, once at import, whether the part is as this
file knows it; the plain way is taken where it is not, and of every part where ANON_SQL_PLAIN_NUMBA
is set. Both ways make the same releases, and read what the other has compiled.
``tests/kernels/test_numba_internals.py`` names the part that a new numba has changed.
"""

import contextlib
import inspect
import os
import pickle
import shutil
import sys
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


# -- A kernel that counts no references to arrays: its caller holds them. Plain: it counts them.
# It must not make an array, which would never be freed. numba refuses to compile one that does.


def _can_leave_references() -> bool:
    from numba.core.registry import cpu_target

    return hasattr(cpu_target.options, "_nrt")


BORROWS = _holds(_can_leave_references)
BORROWED = {"_nrt": False} if BORROWS else {}  # of njit


# -- A kernel that becomes part of those that call it, whatever its length. Plain: it is called, and
# each array in its arguments is passed as seven numbers or more.


def _can_force_inlining() -> bool:
    from numba.core.registry import cpu_target

    return hasattr(cpu_target.options, "forceinline")


INLINES = _holds(_can_force_inlining)


def inlines(every: bool) -> dict[str, bool]:
    """Return the option of njit; a kernel without it takes that of the one it is compiled for."""
    return {"forceinline": every} if INLINES else {}


# -- One compilation of a kernel for all whole numbers. Plain: one for each type that is passed.


def _widened(kind: Any) -> Any:
    """Return int64 for a type of signed integers and bool for that of a constant one."""
    kind = types.unliteral(kind)
    return types.int64 if kind in types.signed_domain else kind


def _asks_for_templates() -> bool:
    dispatcher = njit(_nothing)
    dispatcher.get_call_template = template = dispatcher.get_call_template  # it can be replaced
    kinds = (types.int8, types.literal(3), types.literal(True), types.uint8, types.float64)
    widened = [types.int64, types.int64, types.boolean, types.uint8, types.float64]
    return _takes(template, "args", "kws") and [_widened(kind) for kind in kinds] == widened


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


def compile_under(locked: Callable[[Any, Any], AbstractContextManager[None]]) -> None:
    """Let this process compile a kernel, or read it from disk, within what a function returns.

    locked: takes the Python function and the types of its arguments. Do nothing where numba cannot
    be told to.
    """
    if not LOCKS:
        return
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.dispatcher import Dispatcher

    dispatcher: Any = Dispatcher
    alone = dispatcher.compile

    def compile_(kernel: Any, sig: Any) -> Any:
        kinds = sig if isinstance(sig, tuple) else sig.args
        with global_compiler_lock, locked(kernel.py_func, kinds):
            return alone(kernel, sig)

    dispatcher.compile = compile_


# -- No thread compiles while another forks, or the child would find the compiler locked for ever.
# Plain: such a child hangs when it compiles.

if LOCKS and hasattr(os, "register_at_fork"):
    from numba.core.compiler_lock import global_compiler_lock as _compiling

    os.register_at_fork(
        before=_compiling.acquire,
        after_in_parent=_compiling.release,
        after_in_child=_compiling.release,
    )


# -- Compiled kernels that a wheel brings. Plain: all are compiled here.
# numba finds them by the file of a kernel and by the name of the processor.


def _indexes_by_processor() -> bool:
    from numba.core import caching
    from numba.core.registry import cpu_target

    magic = cpu_target.target_context.codegen().magic_tuple()
    return (
        isinstance(magic, tuple)
        and _takes(caching.IndexDataCacheFile._save_index, "self", "overloads")
        and _takes(caching.FunctionCache._index_key, "self", "sig", "codegen")
    )


SHIPS = _holds(_indexes_by_processor)
_looked: list[bool] = []  # whether this process has looked for kernels that a wheel brings


def _take_shipped(kernel: Any) -> None:
    """Take the kernels that a wheel brings, before the first kernel of a process is called."""
    if _looked or not SHIPS or kernel.stats.cache_path is None:
        return
    _looked.append(True)
    from anon_sql.kernels import shipped

    shipped.take(Path(kernel.stats.cache_path), compiled_files, copy_compiled)


def compiled_files(folder: Path) -> list[Path]:
    """Return the files with compiled kernels in a folder and those in it, code before lists."""
    return sorted(folder.rglob("*.nb[ic]"), key=lambda path: (path.suffix, path.name))


def copy_compiled(file: Path, target: Path, kernels: Path) -> None:
    """Copy one of ``compiled_files`` as if numba had made it here, so that none reads a part.

    kernels: the folder of their source.
    """
    if file.suffix == ".nbc":
        aside = target.with_name(f"{target.name}.{os.getpid()}.new")
        shutil.copyfile(file, aside)
        aside.replace(target)
        return
    from numba.core import caching
    from numba.core.registry import cpu_target

    with file.open("rb") as index:
        pickle.load(index)  # the version of numba, which is equal
        stamp, overloads = pickle.load(index)
    if not isinstance(stamp, bytes):  # the time and size of the source; of newer numba its hash
        source = (kernels / f"{file.name.partition('.')[0]}.py").stat()
        stamp = source.st_mtime, source.st_size
    here = cpu_target.target_context.codegen().magic_tuple()
    made = caching.IndexDataCacheFile(str(target.parent), target.stem, stamp)
    made._save_index({(kinds, here, text): name for (kinds, _, text), name in overloads.items()})


# -- Files of compiled kernels that cannot be read or written. Plain: numba's own, which raise.
# numba raises where it finds no folder to write, where the disk is full and where a file is
# damaged, and it ignores compiled kernels in a folder that cannot be written. Two processes that
# write at once may leave the code of one signature under another.

UNKEPT = (
    "anon_sql: compiled kernels cannot be stored, so that this process compiles them for itself; "
    "set NUMBA_CACHE_DIR to a folder that it can write\n"
)
_warnings: list[str] = []  # that this process wrote to stderr


def _say_unkept() -> None:
    """Write UNKEPT to stderr, once in a process."""
    if not _warnings:
        _warnings.append(UNKEPT)
        sys.stderr.write(UNKEPT)
        sys.stderr.flush()


class _Files:
    """What a dispatcher asks of its cache: it compiles what cannot be read."""

    def __init__(self, cache: Any):
        self.cache = cache

    @property
    def cache_path(self) -> str | None:
        """The folder; None where there is none."""
        path: str | None = self.cache.cache_path
        return path

    def enable(self) -> None:
        """Read and write from now on."""
        self.cache.enable()

    def disable(self) -> None:
        """Neither read nor write from now on."""
        self.cache.disable()

    def flush(self) -> None:
        """Forget what is stored."""
        self.cache.flush()

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return what was compiled for a signature, or None."""
        try:
            overload = self.cache.load_overload(signature, target)
        except Exception:  # whatever pickle raises for a damaged file
            with contextlib.suppress(OSError):
                self.cache.flush()
            return None
        if overload is not None and tuple(overload.signature.args) != tuple(signature):
            return None
        return overload

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Store what was compiled, where that is possible."""
        if self.cache_path is None:
            _say_unkept()
        try:
            self.cache.save_overload(signature, compiled)
        except OSError:
            _say_unkept()


def _readable(locator: Any) -> Any:
    """Return a locator for a folder that cannot be written, but has the kernel."""

    class Readable(locator):  # type: ignore[misc]
        def ensure_cache_path(self) -> None:
            """Raise OSError in a folder without the kernel, as in one that cannot be written."""
            name = f"{Path(self._py_file).stem}.{self._kernel}-{self._lineno}.*.nbi"
            if not any(Path(self.get_cache_path()).glob(name)):
                raise FileNotFoundError(name)

        def __init__(self, function: Any, file: str):
            super().__init__(function, file)
            self._kernel = function.__qualname__

    return Readable


def _stored() -> Any:
    """Return numba's class of the files of a kernel, which also reads where it cannot write."""
    from numba.core import caching

    chosen = getattr(caching, "UserProvidedCacheLocator", None) or caching._UserProvidedCacheLocator
    in_tree = getattr(caching, "InTreeCacheLocator", None) or caching._InTreeCacheLocator
    locators = caching.CacheImpl._locator_classes
    first = (chosen, _readable(chosen), in_tree, _readable(in_tree))

    class Placed(caching.CompileResultCacheImpl):  # type: ignore[misc]
        _locator_classes = (*first, *(each for each in locators if each not in (chosen, in_tree)))

    class Stored(caching.FunctionCache):  # type: ignore[misc]
        _impl_class = Placed

    return Stored


def _stores() -> bool:
    from numba.core import caching

    return (
        hasattr(njit(_nothing), "_cache")
        and caching.NullCache().cache_path is None
        and _takes(caching.FunctionCache.save_overload, "self", "sig", "data")
        and _takes(caching.FunctionCache.load_overload, "self", "sig", "target_context")
        and caching.FunctionCache._impl_class is caching.CompileResultCacheImpl
        and _stored() is not None
    )


STORES = _holds(_stores)
_Stored: Any = _stored() if STORES else None


def on_disk(function: Any, **options: Any) -> Any:
    """Return a function compiled by numba: kept on disk, or in memory where there is no folder."""
    if not STORES:
        try:
            return njit(function, cache=True, **options)
        except RuntimeError:  # numba found no folder at all
            return njit(function, **options)
    from numba.core import caching

    made = njit(function, **options)
    try:
        made._cache = _Files(_Stored(function))
    except (OSError, RuntimeError):
        made._cache = _Files(caching.NullCache())
    _take_shipped(made)
    return made


# -- Where compiled kernels are. Plain: that is not known.


def _index(kernel: Any) -> Path:
    files = getattr(kernel._cache, "cache", kernel._cache)
    return Path(files._cache_file._index_path)


def _knows_its_files() -> bool:
    kernel = on_disk(_nothing)
    path = kernel.stats.cache_path
    return path is None or _index(kernel).parent == Path(path)


FINDS = _holds(_knows_its_files)


def folder_of(kernel: Any) -> Path | None:
    """Return the folder to which numba writes what it compiles of a kernel; None if not known.

    Raises RuntimeError where there is none.
    """
    if not FINDS:
        return None
    if kernel.stats.cache_path is None:
        raise RuntimeError("no folder for compiled kernels")
    return Path(kernel.stats.cache_path)


def index_of(kernel: Any) -> Path | None:
    """Return the file that lists what is compiled of a kernel, which exists if anything is.

    None if not known, or if there is none.
    """
    return _index(kernel) if FINDS and kernel.stats.cache_path is not None else None


def files_of(folder: Path, module: str) -> Iterator[Path]:
    """Yield the files, in a folder and those in it, with what is compiled of a module.

    module: its last name.
    """
    return folder.rglob(f"{module}.*.nb[ic]")
