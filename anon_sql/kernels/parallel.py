"""Let several processes compile the kernels, each kernel in one of them."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

from llvmlite import binding

from anon_sql import system
from anon_sql.kernels import numba_internals
from anon_sql.kernels.hashing import mix
from anon_sql.kernels.kernel import timer
from anon_sql.version import VERSION

_hooked: list[bool] = []  # whether numba asks for the locks
_shared: list[Path] = []  # the folder of locks, while processes share the work
_locked: set[str] = set()  # the kernels that this process compiles or reads


def compile_what_no_other_does(locks: Path) -> None:
    """Let this process wait for a kernel that another one compiles, and read what that wrote.

    locks: a folder that these processes share, for a file per kernel.
    """
    if not _hooked:
        _hooked.append(True)
        numba_internals.compile_under(_alone)
    _shared[:] = [locks]


def compile_alone() -> None:
    """Let this process compile as if there were no other."""
    _shared.clear()


def shares() -> bool:
    """Return whether this process shares the work with others now."""
    return bool(_shared)


@contextmanager
def _alone(function: Any, kinds: Any) -> Iterator[None]:
    """Hold the lock of a kernel for all types; numba has one thread at a time here."""
    name = f"{function.__module__}.{function.__qualname__}"
    folder = _shared[0] if _shared else None
    if folder is None or name in _locked:  # a kernel that calls itself
        yield
        return
    try:
        file = (folder / name).open("w")
    except OSError:  # the folder is gone: no other process compiles
        yield
        return
    with file:
        _lock(file)
        _locked.add(name)
        try:
            yield
        finally:
            _locked.remove(name)


def _lock(file: IO[str]) -> None:
    """Lock a file; to wait for a process that compiles the kernel counts as compiling it."""
    if system.lock(file.fileno()):
        return
    timer.start()
    try:
        system.lock(file.fileno(), wait=True)
    finally:
        timer.end()


def processes() -> int:
    """Return how many processes may compile side by side: one where numba takes no lock."""
    return 2 if numba_internals.LOCKS else 1


def cache_folder() -> Path | None:
    """Return numba's folder of compiled kernels, which exists afterwards; None if not known.

    Raises OSError where it cannot be made.
    """
    folder = numba_internals.folder_of(mix)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def any_compiled() -> bool:
    """Return whether kernels are compiled, in this process or on disk; True if not known."""
    index = numba_internals.index_of(mix)
    return bool(mix.signatures) or index is None or index.exists()


def fingerprint() -> str:
    """Return a hash that differs where kernels must be compiled anew.

    It is that of their text, the versions of all that compiles them, and the processor.
    """
    texts = [path.read_bytes() for path in sorted(Path(__file__).parent.rglob("*.py"))]
    versions = (VERSION, sys.version, version("numba"), version("llvmlite"), version("numpy"))
    machine = (
        binding.get_default_triple(),
        binding.get_host_cpu_name(),
        binding.get_host_cpu_features().flatten(),
    )
    return sha256(repr((texts, versions, machine)).encode()).hexdigest()
