"""The most memory that a piece of work holds, by Linux's account of the process that does it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

PROCESS = Path("/proc/self")


def peak(work: Callable[[], Any]) -> tuple[float, float]:
    """Return what the process held before the work, and the most that it held during it, in MiB.

    Earlier peaks are forgotten: 5 in clear_refs sets VmHWM to what is held now.
    """
    (PROCESS / "clear_refs").write_text("5", "ascii")
    before = _status("VmRSS:")
    work()
    return before, _status("VmHWM:")


def _status(name: str) -> float:
    return int((PROCESS / "status").read_text("ascii").partition(name)[2].split()[0]) / 1024
