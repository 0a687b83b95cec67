"""Share compiled kernels between processes: their files on disk, and forks.

numba raises where it finds no folder to write, where the disk is full and where a file is damaged,
and it ignores compiled kernels in a folder that cannot be written. Two processes that write at once
may leave the code of one signature under another.
"""

import contextlib
import os
import sys
from pathlib import Path
from typing import Any

from numba.core import caching
from numba.core.compiler_lock import global_compiler_lock

UNKEPT = (
    "anon_sql: compiled kernels cannot be stored, so that this process compiles them for itself; "
    "set NUMBA_CACHE_DIR to a folder that it can write\n"
)

# A thread that compiles as another forks would leave the lock of the compiler locked in the child.
os.register_at_fork(
    before=global_compiler_lock.acquire,
    after_in_parent=global_compiler_lock.release,
    after_in_child=global_compiler_lock.release,
)

_said: list[str] = []  # what this process wrote to stderr


def keep_on_disk(dispatcher: Any) -> None:
    """Let a kernel be read from disk and be stored there, and work where it cannot."""
    try:
        dispatcher._cache = _Files(_Stored(dispatcher.py_func))
    except (OSError, RuntimeError):  # RuntimeError: numba found no folder at all
        dispatcher._cache = _Files(caching.NullCache())


def say_unkept() -> None:
    """Write UNKEPT to stderr, once in a process."""
    if not _said:
        _said.append(UNKEPT)
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
            found = self.cache.load_overload(signature, target)
        except Exception:  # whatever pickle raises for a damaged file
            with contextlib.suppress(OSError):
                self.cache.flush()
            return None
        if found is not None and tuple(found.signature.args) != tuple(signature):
            return None
        return found

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Store what was compiled, where that is possible."""
        if self.cache_path is None:
            say_unkept()
        try:
            self.cache.save_overload(signature, compiled)
        except OSError:
            say_unkept()


_InTree = getattr(caching, "InTreeCacheLocator", None) or caching._InTreeCacheLocator
_Chosen = getattr(caching, "UserProvidedCacheLocator", None) or caching._UserProvidedCacheLocator


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


class _Placed(caching.CompileResultCacheImpl):  # type: ignore[misc]
    """As numba's, but it also reads from folders that cannot be written."""

    _locator_classes = (
        _Chosen,
        _readable(_Chosen),
        _InTree,
        _readable(_InTree),
        *(each for each in caching.CacheImpl._locator_classes if each not in (_Chosen, _InTree)),
    )


class _Stored(caching.FunctionCache):  # type: ignore[misc]
    """numba's files of one kernel."""

    _impl_class = _Placed
