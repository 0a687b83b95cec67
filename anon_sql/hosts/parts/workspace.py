"""The private folder that holds routed rows and finished regions until the release is written.

Its name follows from the target, so that a later call finds what an interrupted one has left.
"""

import fcntl
import hashlib
import json
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from anon_sql.errors import AnonError

_LOCK, _STATE = "lock", "state.json"


class Workspace:
    """A folder that one process uses at a time, readable by its owner only."""

    def __init__(self, parent: Path, target: str):
        digest = hashlib.sha256(os.fsencode(target)).hexdigest()[:16]
        self.folder = parent / f".anon-sql-{digest}-parts"
        self._lock: TextIO | None = None

    def open(self, *, resume: bool) -> None:
        """Make the folder; empty it unless ``resume``. Raises AnonError if another uses it."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        if self.folder.is_symlink() or self.folder.stat().st_uid != os.getuid():
            rule = "the folder of unfinished parts must be the caller's own"
            raise AnonError("release", rule, f"'{self.folder}' of another", "remove it")
        self.folder.chmod(0o700)
        self._lock = (self.folder / _LOCK).open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            self._lock = None
            raise AnonError(
                "release", "one call at a time may write a target", "another that does"
            ) from None
        if not resume:
            self.clear()

    def clear(self) -> None:
        """Remove what the folder holds."""
        for path in self.folder.iterdir():
            if path.name != _LOCK:
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    def close(self, *, keep: bool) -> None:
        """Release the folder and, unless ``keep``, remove it."""
        if self._lock is None:
            return
        if not keep:
            shutil.rmtree(self.folder, ignore_errors=True)
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
        """Return what ``remember`` has stored; None if there is nothing."""
        with suppress(OSError, ValueError):
            found = json.loads((self.folder / _STATE).read_text("utf-8"))
            return found if isinstance(found, dict) else None
        return None

    def remember(self, state: dict[str, Any]) -> None:
        """Store the state of a call whose rows are all routed."""
        aside = self.folder / "state.tmp"
        aside.write_text(json.dumps(state), "utf-8")
        os.replace(aside, self.folder / _STATE)
