"""The private folder that holds routed rows and finished regions until the release is written.

Its name follows from the target, so that a later call finds what an interrupted one has left.
"""

import fcntl
import hashlib
import json
import os
import shutil
import stat
from collections.abc import Container
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from anon_sql.errors import AnonError
from anon_sql.hosts.unfinished import open_itself

_LOCK, _STATE = "lock", "state.json"
_MOST = 100  # folders of one name


@dataclass(frozen=True)
class Place:
    """Where the folder of a call lies.

    parent: a folder on the disk of the target. target: what tells the target from others. shared:
    whether several targets are called so, and calls at the same time have folders of their own.
    """

    parent: Path
    target: str
    shared: bool = False

    @staticmethod
    def beside(target: Path) -> "Place":
        """Return the place beside a file."""
        final = target.resolve()
        return Place(final.parent, final.name)

    def folders(self) -> list[Path]:
        """Return the possible folders: first those that are there, then those to be made."""
        digest = hashlib.sha256(os.fsencode(self.target)).hexdigest()[:16]
        first = self.parent / f".anon-sql-{digest}-parts"
        more = range(2, _MOST + 1) if self.shared else ()
        found = [first, *(first.with_name(f"{first.name}-{number}") for number in more)]
        return sorted(found, key=lambda folder: not folder.exists())


class Workspace:
    """A folder that one call uses at a time, readable by its owner only."""

    def __init__(self, place: Place):
        self.place = place
        self.folder = place.parent
        self.run = b""
        self._lock: TextIO | None = None

    def open(self, *, resume: bool) -> None:
        """Make the folder; empty it unless ``resume``. Raises AnonError if another uses it."""
        for folder in self.place.folders():
            self.folder, self._lock = folder, _locked(folder)
            if self._lock is not None:
                break
        else:
            rule = "one call at a time may write a target"
            raise AnonError("release", rule, "another that does")
        self.clear(but=(self.spill, self.done, self.folder / _STATE) if resume else ())

    def clear(self, but: Container[Path] = ()) -> None:
        """Remove what the folder holds, but for some paths."""
        for path in self.folder.iterdir():
            if path.name != _LOCK and path not in but:
                shutil.rmtree(path) if _is_folder(path) else path.unlink()

    def close(self, *, keep: bool) -> None:
        """Release the folder and, unless ``keep``, remove it."""
        if self._lock is None:
            return
        if not keep:
            with suppress(OSError):  # a call that waits for the folder has it again
                self.clear()
                (self.folder / _LOCK).unlink()
                self.folder.rmdir()
        self._lock.close()
        self._lock = None

    @property
    def temporary(self) -> Path:
        """Return the folder for DuckDB's temporary files."""
        return self.folder / "temporary"

    @property
    def spill(self) -> Path:
        """Return the folder of the routed rows."""
        return self.folder / "rows"

    @property
    def done(self) -> Path:
        """Return the folder of finished regions."""
        return self.folder / "done"

    def state(self) -> dict[str, Any] | None:
        """Return what ``remember`` has stored; None if there is nothing, or if it is damaged."""
        if not (_is_folder(self.spill) and _is_folder(self.done)):
            return None
        with suppress(OSError, ValueError):
            with os.fdopen(open_itself(self.folder / _STATE), "rb") as file:
                stored = json.load(file)
            found = stored.get("state") if isinstance(stored, dict) else None
            if isinstance(found, dict) and stored.get("sha256") == _digest(found):
                self.run = bytes.fromhex(stored["sha256"])
                return found
        return None

    def remember(self, state: dict[str, Any]) -> None:
        """Store the state of a call whose rows are all routed; its hash is ``run``."""
        aside, digest = self.folder / "state.tmp", _digest(state)
        aside.write_text(json.dumps({"state": state, "sha256": digest}), "utf-8")
        aside.replace(self.folder / _STATE)
        self.run = bytes.fromhex(digest)


def _digest(state: object) -> str:
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _locked(folder: Path) -> TextIO | None:
    """Return the lock of a folder, which is made if there is none; None if another call has it."""
    rule = "the folder of unfinished parts must be the caller's own"
    while True:
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        with suppress(FileNotFoundError):  # the call that had the folder removes it just now
            there = folder.lstat()
            if not stat.S_ISDIR(there.st_mode) or there.st_uid != os.getuid():
                raise AnonError("release", rule, f"'{folder}' of another", "remove it")
            folder.chmod(0o700)
            try:
                lock = os.fdopen(open_itself(folder / _LOCK, os.O_WRONLY | os.O_CREAT), "w")
            except FileNotFoundError:
                raise
            except OSError:
                got = f"'{folder}' with a lock that is no file"
                raise AnonError("release", rule, got, "remove it") from None
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                lock.close()
                return None
            if os.fstat(lock.fileno()).st_nlink:
                return lock
            lock.close()
