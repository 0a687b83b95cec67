"""Let a second process compile what a first call needs.

``first_calls.json`` lists, by call, the kernels that Python calls in their order, with the types of
their arguments. The process of the call compiles them as it comes to them, from the first; another
compiles them from the last, until the call ends. Each reads what the other has compiled, so that
they meet in the middle. A list that is out of date costs time and changes nothing.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from numba import types

from anon_sql import system
from anon_sql.kernels import numba_internals, parallel

FILE = Path(__file__).with_name("first_calls.json")
FEWEST = 8  # kernels to compile, below which a second process costs more than it saves
_begun: set[str] = set()  # calls for which this process looked once
_awaited: dict[str, list[Path]] = {}  # the files that running calls were missing, by call


def name_of(function: str, protected: bool) -> str:
    """Return the name of a call in the list: under rules for sensitive values or not."""
    return f"{function} protected" if protected else function


@contextmanager
def beside(function: str, protected: bool) -> Iterator[None]:
    """Let another process compile what a call needs last, if much of it is not compiled.

    function: a release function. protected: whether it has rules for sensitive values. Look once
    in a process; do nothing where processes cannot share the work, or have one processor.
    """
    name = name_of(function, protected)
    first = name not in _begun
    _begun.add(name)
    with ExitStack() as open_:
        missing = _missing(_listed().get(name, ())) if first else []
        if missing:
            _awaited[name] = missing
            open_.callback(_awaited.pop, name, None)
        if len(missing) >= FEWEST and _can_share():
            with suppress(OSError):  # no folder for temporary files, or no other process
                locks = open_.enter_context(TemporaryDirectory(ignore_cleanup_errors=True))
                other = _process(name, locks)
                open_.callback(other.wait)
                open_.callback(other.kill)
                open_.callback(parallel.compile_alone)
                parallel.compile_what_no_other_does(Path(locks))
        yield


def _can_share() -> bool:
    """Return whether two processes can compile side by side here, and do not yet."""
    if not (numba_internals.LOCKS and numba_internals.FINDS) or parallel.shares():
        return False
    return system.cores() > 1 and Path(sys.executable or "").name.startswith("python")


def compiled() -> tuple[int, int | None]:
    """Return how many kernels are compiled while one is, and of how many; None if not known.

    They are those that the running calls of this process need and that were not compiled before.
    """
    files = {file for missing in list(_awaited.values()) for file in missing}
    if not files:
        return 0, None
    return min(sum(file.exists() for file in files), len(files) - 1), len(files)


def _missing(kernels: Sequence[tuple[str, Any]]) -> list[Path]:
    """Return the file of each listed kernel of which nothing is compiled on disk."""
    indexes = [numba_internals.index_of(kernel_called(name)) for name, _ in kernels]
    return [index for index in indexes if index is not None and not index.exists()]


def _process(name: str, locks: str) -> subprocess.Popen[bytes]:
    """Start the process that compiles from the end. Raises OSError where it cannot be started."""
    nothing = subprocess.DEVNULL
    call = [sys.executable, "-P", "-m", "anon_sql.kernels.ahead", name, locks]
    return subprocess.Popen(call, stdin=nothing, stdout=nothing, stderr=nothing)


def kernel_called(name: str) -> Any:
    """Return a kernel by the name in the list: that of its file and its own."""
    file, _, function = name.partition(".")
    return getattr(import_module(f"anon_sql.kernels.{file}"), function)


def text_of(kind: Any) -> Any:
    """Return a type of numba as JSON. Raises ValueError for one that the list cannot hold."""
    if isinstance(kind, types.Array) and kind.aligned:
        return f"{kind.dtype} {kind.ndim} {kind.layout}" + ("" if kind.mutable else " readonly")
    if isinstance(kind, types.NamedTuple):
        of = kind.instance_class
        return {f"{of.__module__}.{of.__qualname__}": [text_of(each) for each in kind.types]}
    if isinstance(kind, types.BaseTuple):
        return [text_of(each) for each in kind.types]
    if isinstance(kind, types.Integer | types.Float | types.Boolean):
        return str(kind)
    raise ValueError(str(kind))


def type_of(text: Any) -> Any:
    """Return the type of numba that ``text_of`` wrote as JSON."""
    if isinstance(text, list):
        return types.Tuple([type_of(each) for each in text])
    if isinstance(text, Mapping):
        ((name, fields),) = text.items()
        module, _, named_tuple = name.rpartition(".")
        return types.NamedTuple(
            [type_of(each) for each in fields], getattr(import_module(module), named_tuple)
        )
    scalar, *of_array = text.split()
    kind = types.boolean if scalar == "bool" else getattr(types, scalar)
    if not of_array:
        return kind
    dimensions, layout, *readonly = of_array
    return types.Array(kind, int(dimensions), layout, readonly=bool(readonly))


def _listed() -> dict[str, list[tuple[str, Any]]]:
    """Return the kernels of each call, with their types as JSON."""
    listed = json.loads(FILE.read_text(encoding="utf-8"))
    kernels = [tuple(each) for each in listed["kernels"]]
    return {name: [kernels[place] for place in places] for name, places in listed["calls"].items()}


def compile_from_the_end(name: str, locks: Path) -> None:
    """Compile the kernels of a call, the last first, until the process that asked for it ends."""
    parallel.compile_what_no_other_does(locks)
    parent = os.getppid()
    for kernel, kinds in reversed(_listed()[name]):
        if os.getppid() != parent:
            return
        with suppress(AttributeError):  # of a list that is out of date
            kernel_called(kernel).compile(tuple(type_of(each) for each in kinds))


if __name__ == "__main__":
    compile_from_the_end(sys.argv[1], Path(sys.argv[2]))
