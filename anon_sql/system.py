"""What differs between operating systems: locks, users, links, children of a process.

No other module asks which system it runs on, or imports a module that only some systems have.
"""

import errno
import os
import stat
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from filelock import lock_descriptor

_WINDOWS = os.name == "nt"
# Windows changes ends of lines in what is not opened as binary; it has no other of these flags.
_REGULAR = sum(getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
# Arguments of Popen by which Ctrl-C reaches this process and not its child.
APART: dict[str, Any] = (
    {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
    if _WINDOWS
    else {"start_new_session": True}
)


def after_fork_in_child(function: Callable[[], None]) -> None:
    """Call a function in every child that is forked, where the system can fork."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=function)


def open_itself(path: Path, flags: int = os.O_RDONLY) -> int:
    """Open a regular file for its owner alone. Refuse symbolic links, and never block on a FIFO.

    Raises OSError for anything else.
    """
    if path.is_symlink():  # Windows cannot refuse one as it opens it
        raise OSError(errno.ELOOP, "a symbolic link", str(path))
    descriptor = os.open(path, flags | _REGULAR, 0o600)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "no regular file", str(path))
    return descriptor


def lock(descriptor: int, *, wait: bool = False) -> bool:
    """Lock an open file for this process, and return whether it has the lock.

    The lock ends as the file is closed. wait: until another process that has it ends it. Raises
    OSError on a file system without locks.
    """
    return lock_descriptor(descriptor, blocking=wait)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a path, which need not exist: that of an empty file beside it.

    Windows locks no folder, and a locked file cannot be read there. A file system without locks
    gives it to everybody. Raises BlockingIOError if another process holds it.
    """
    beside = lock_of(path)
    descriptor = open_itself(beside, os.O_RDWR | os.O_CREAT)
    free = True
    try:
        with suppress(OSError):
            free = lock(descriptor)
        if not free:
            raise BlockingIOError(errno.EAGAIN, "locked by another process", str(path))
        yield
    finally:
        os.close(descriptor)
        if free:
            beside.unlink(missing_ok=True)


_LOCK = ".lock"


def lock_of(path: Path) -> Path:
    """Return the file whose lock is that of a path."""
    return path.with_name(path.name + _LOCK)


def is_lock(path: Path) -> bool:
    """Return whether a file is the lock of another path."""
    return path.suffix == _LOCK


_SEPARATORS = tuple(filter(None, (os.sep, os.altsep)))


def has_folder(text: str) -> bool:
    """Return whether a text names a folder before its last part, as a path here does."""
    return any(sign in text for sign in _SEPARATORS)


def ends_as_folder(text: str) -> bool:
    """Return whether a text ends as the path of a folder does here."""
    return text.endswith(_SEPARATORS)


def relative(path: Path, folder: Path) -> str:
    """Return a path from a folder, with '/' on every system; the whole path on another drive."""
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:
        return path.absolute().as_posix()


def user() -> int:
    """Return the number of the user who runs this process; 0 on Windows, which has none."""
    return os.geteuid() if hasattr(os, "geteuid") else 0


def is_owned(entry: os.stat_result, *others: int) -> bool:
    """Return whether a file belongs to the user who runs this process, or to another one named.

    Windows has no owner here. There, the rights of the folder of a user keep others out.
    """
    return _WINDOWS or entry.st_uid in (user(), *others)


def others_can_write(entry: os.stat_result) -> bool:
    """Return whether the mode of a file lets users write who do not own it; see ``is_owned``."""
    return not _WINDOWS and bool(entry.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def free_memory() -> int | None:
    """Return the bytes that the system can give, caches that it would drop included.

    None where it does not say.
    """
    with suppress(OSError, StopIteration):
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        available = next(line for line in lines if line.startswith("MemAvailable:"))
        return int(available.split()[1]) * 1024
    if not hasattr(os, "sysconf"):
        return None
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
