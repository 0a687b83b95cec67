"""Write a file whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from anon_sql.hosts.unfinished import hidden_path, locked


@contextmanager
def whole_file(target: Path) -> Iterator[Path]:
    """Give the path of an unfinished file beside the target, which replaces it at the end.

    An error leaves nothing behind.
    """
    final = target.resolve()
    unfinished = hidden_path(final)
    unfinished.open("xb").close()
    try:
        with locked(unfinished):
            yield unfinished
            os.replace(unfinished, final)
    finally:
        unfinished.unlink(missing_ok=True)
