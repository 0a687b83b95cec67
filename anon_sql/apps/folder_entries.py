"""Find everything that a folder holds, at any depth and of any name."""

import os
from pathlib import Path

_SHOWN = 5


def entries(folder: Path) -> dict[str, bool]:
    """Return the path of each entry below a folder, and whether it is a regular file.

    Links are entries, and nothing behind them is looked at. A folder's path ends in '/'. Raises
    OSError for a folder that cannot be read.
    """
    found: dict[str, bool] = {}
    left = [""]
    while left:
        within = left.pop()
        with os.scandir(folder / within) as listed:
            for entry in listed:
                path = within + entry.name
                if entry.is_dir(follow_symlinks=False):
                    left.append(f"{path}/")
                    found[f"{path}/"] = False
                else:
                    found[path] = entry.is_file(follow_symlinks=False)
    return found


def shown(paths: list[str]) -> str:
    """Return the first few of some paths, and the number of the others."""
    first = ", ".join(paths[:_SHOWN])
    others = len(paths) - _SHOWN
    return first if others <= 0 else f"{first} and {others:,} more"
