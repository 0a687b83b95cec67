"""Write a file whole or not at all, and remove what a killed process left of it."""

import fcntl
import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def whole_file(target: Path) -> Iterator[Path]:
    """Give the path of an unfinished file beside the target, which replaces it at the end.

    An error leaves nothing behind. The unfinished file is locked while it is written, so that
    ``remove_unfinished`` can tell it from one that a killed process has left.
    """
    final = target.resolve()
    unfinished = final.with_name(f"{_prefix(final)}{secrets.token_hex(8)}.tmp")
    with unfinished.open("xb") as held:
        try:
            with suppress(OSError):  # a file system without locks
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield unfinished
            os.replace(unfinished, final)
        finally:
            unfinished.unlink(missing_ok=True)


def remove_unfinished(target: Path) -> None:
    """Remove what killed processes have left of a target; what is being written stays."""
    final = target.resolve()
    for left in final.parent.glob(f"{_prefix(final)}*.tmp"):
        with suppress(OSError), left.open("rb") as held:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.unlink()


def _prefix(final: Path) -> str:
    """Return what the names of a target's unfinished files begin with, short for any target."""
    return f".anon-sql-{hashlib.sha256(os.fsencode(final.name)).hexdigest()[:16]}-"
