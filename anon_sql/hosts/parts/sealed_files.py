"""Tell the files of a run as they were written from damaged, exchanged and foreign ones."""

import hashlib
import os
from pathlib import Path

from anon_sql.hosts.unfinished import open_itself

SEAL = 32  # bytes
_BLOCK = 1 << 20


def seal(file: Path, run: bytes) -> None:
    """Append a checksum of a file's content, of its name without ending, and of its run."""
    made = _sha256(file, end=None, more=run + file.stem.encode())
    with file.open("ab") as out:
        out.write(made)


def is_sealed(file: Path, run: bytes) -> bool:
    """Return whether a path is a regular file with the seal of its content, name and run."""
    try:
        made = _sha256(file, end=end(file), more=run + file.stem.encode())
        with file.open("rb") as held:
            held.seek(end(file))
            return held.read() == made
    except (OSError, ValueError):
        return False


def end(file: Path) -> int:
    """Return the number of bytes before the seal, which is negative without one."""
    return file.stat().st_size - SEAL


def checksum(file: Path) -> str | None:
    """Return the SHA-256 of a regular file; None for anything else."""
    try:
        return _sha256(file, end=None).hex()
    except OSError:
        return None


def _sha256(file: Path, *, end: int | None, more: bytes = b"") -> bytes:
    """Return the SHA-256 of a regular file up to a byte, or of all, and of ``more``.

    Raises OSError for anything else.
    """
    made, block = hashlib.sha256(), memoryview(bytearray(_BLOCK))
    with os.fdopen(open_itself(file), "rb", buffering=0) as held:
        left = os.fstat(held.fileno()).st_size if end is None else end
        while left > 0 and (read := held.readinto(block[: min(left, _BLOCK)])):
            made.update(block[:read])
            left -= read
    made.update(more)
    return made.digest()
