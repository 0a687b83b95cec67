"""Let several processes compile the kernels, each kernel in one of them."""

import fcntl
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher
from numba.core.registry import cpu_target

from anon_sql.kernels.hashing import mix
from anon_sql.version import VERSION


def compile_what_no_other_does(locks: Path) -> None:
    """Let this process wait for a kernel that another one compiles, and read what that wrote.

    locks: a folder that these processes share, for a file per kernel.
    """
    dispatcher: Any = Dispatcher
    alone, locked_names = dispatcher.compile, set()

    @contextmanager
    def locked(name: str) -> Iterator[None]:
        if name in locked_names:  # a kernel that calls itself
            yield
            return
        with (locks / name).open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            locked_names.add(name)
            try:
                yield
            finally:
                locked_names.remove(name)

    def compile_(kernel: Any, signature: Any) -> Any:
        function = kernel.py_func
        with global_compiler_lock, locked(f"{function.__module__}.{function.__qualname__}"):
            return alone(kernel, signature)

    dispatcher.compile = compile_


def cache_folder() -> Path:
    """Return numba's folder of compiled kernels. Raises RuntimeError where it has none."""
    if mix.stats.cache_path is None:
        raise RuntimeError("no folder for compiled kernels")
    return Path(mix.stats.cache_path)


def fingerprint() -> str:
    """Return a hash that differs where kernels must be compiled anew.

    It is that of their text, the versions of all that compiles them, and the processor.
    """
    texts = [path.read_bytes() for path in sorted(Path(__file__).parent.rglob("*.py"))]
    versions = (VERSION, sys.version, version("numba"), version("llvmlite"), version("numpy"))
    machine = cpu_target.target_context.codegen().magic_tuple()
    return sha256(repr((texts, versions, machine)).encode()).hexdigest()
