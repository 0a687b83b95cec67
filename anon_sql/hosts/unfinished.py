"""Name and lock what is not finished beside its target, and remove what killed processes left."""

import errno
import fcntl
import hashlib
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from anon_sql.hosts.parquet_files import others

TEMPORARY, REPLACED = ".tmp", ".old"


def hidden_path(final: Path, ending: str = TEMPORARY) -> Path:
    """Return a new path beside a target, short for any target."""
    return final.with_name(f"{_prefix(final)}{secrets.token_hex(8)}{ending}")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock a file or folder, so that ``remove_unfinished`` can tell it from one left behind.

    Raises BlockingIOError if another process has locked it.
    """
    held = os.open(path, os.O_RDONLY)
    try:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise
        except OSError:  # a file system without locks
            pass
        yield
    finally:
        os.close(held)


def remove_unfinished(target: Path) -> None:
    """Remove what killed processes have left of a target; what is being written stays."""
    final = target.resolve()
    for left in final.parent.glob(f"{_prefix(final)}*"):
        with suppress(OSError), locked(left):
            if left.suffix == REPLACED:
                settle(left, final)
            elif left.suffix == TEMPORARY:
                remove(left)


def settle(replaced: Path, final: Path) -> None:
    """Remove a replaced folder of a release, or put it back if nothing has its name."""
    if replaced.exists() and not final.exists():
        replaced.rename(final)
    elif replaced.exists() and not others(replaced):
        remove(replaced)


def remove(path: Path) -> None:
    """Remove a file or a folder with its files."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def open_itself(path: Path, flags: int = os.O_RDONLY) -> int:
    """Open a regular file, but not what a link leads to, and wait for no other end of a pipe.

    Raises OSError for anything else.
    """
    held = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    if not stat.S_ISREG(os.fstat(held).st_mode):
        os.close(held)
        raise OSError(errno.EINVAL, "no regular file", str(path))
    return held


def _prefix(final: Path) -> str:
    """Return what the names of all that is hidden beside a target begin with."""
    return f".anon-sql-{hashlib.sha256(os.fsencode(final.name)).hexdigest()[:16]}-"
