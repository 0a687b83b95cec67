"""Let one task of each machine compile the kernels while the others wait."""

import fcntl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path

from anon_sql.errors import AnonError
from anon_sql.version import VERSION


@contextmanager
def compiled_once(function: str, kind: str) -> Iterator[None]:
    """Run a block alone on this machine until one such block has ended, and beside others later.

    kind: a text that differs where other kernels are needed. The first block compiles the kernels
    that it calls and leaves them in the folder of numba's cache, from which other processes load
    them. Raises AnonError if there is no folder that can be written.
    """
    folder = cache_folder(function)
    mark = folder / f"anon_sql-{VERSION}-{sha256(kind.encode()).hexdigest()[:16]}.compiled"
    if mark.exists():
        yield
        return
    with ExitStack() as stack:
        stack.enter_context(_alone(function, folder))
        if mark.exists():
            stack.close()
        yield
        if not mark.exists():
            mark.touch()


@contextmanager
def _alone(function: str, folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, which ends with the process that holds it."""
    try:
        file = (folder / "anon_sql.lock").open("w")
    except OSError:
        raise _unwritable(function) from None
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def cache_folder(function: str) -> Path:
    """Return the folder of compiled kernels, which exists afterwards and can be written."""
    try:
        from anon_sql.kernels.hash.hashing import mix

        folder = Path(mix.stats.cache_path)
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # RuntimeError: numba found no folder at all
        raise _unwritable(function) from None
    return folder


def _unwritable(function: str) -> AnonError:
    return AnonError(
        function,
        "workers must be able to store compiled kernels",
        "no folder that they may write",
        "set NUMBA_CACHE_DIR on all machines, in Spark by spark.executorEnv.NUMBA_CACHE_DIR",
    )
