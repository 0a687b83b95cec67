"""The short form of ``benchmarks/soak.py``: calls, connections and failures leave nothing behind."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.oldest, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]


def soak(*arguments, tolerance=32):
    """What the benchmark prints, and its exit code."""
    if not Path("/proc/self/status").is_file():
        pytest.skip("needs Linux's /proc")
    given = [*arguments, "--tolerance", str(tolerance)]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.soak", *map(str, given)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr, done.returncode


@pytest.mark.parametrize(("kind", "count"), [("calls", 150), ("connections", 12), ("failures", 32)])
def test_nothing_is_left(kind, count):
    counts = {name: count if name == kind else 0 for name in ("calls", "connections", "failures")}
    printed, code = soak(*(f"--{name}={number}" for name, number in counts.items()))
    assert code == 0, printed
    assert len(re.findall(r"left behind: nothing", printed)) == 1


def test_growth_beyond_the_tolerance_is_told():
    printed, code = soak("--calls=0", "--connections=0", "--failures=16", tolerance=-1000)
    assert code == 1, printed
    assert re.search(r"left behind: -?\d+ MiB of memory", printed)
