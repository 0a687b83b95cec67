"""Keep the history of the shell in the user's folder for state, readable by nobody else."""

import os
import sys
from pathlib import Path


def history_file() -> Path | None:
    """Return the file, created if it does not exist, or None if it cannot be written."""
    path = _folder() / "history"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
    except OSError:
        return None
    return path if os.access(path, os.R_OK | os.W_OK) else None


def _folder() -> Path:
    given = os.environ.get("XDG_STATE_HOME")
    if given:
        return Path(given) / "anon_sql"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "anon_sql"
    return Path.home() / ".local" / "state" / "anon_sql"
