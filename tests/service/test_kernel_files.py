"""A kernel works whatever becomes of the files in which it is kept."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from anon_sql.kernels.numba_internals import UNKEPT

pytestmark = pytest.mark.long

KERNEL = """
from anon_sql.kernels.kernel import kernel

@kernel
def twice(x):
    return x + x

@kernel
def fourfold(x):
    return twice(twice(x))
"""
CALL = "from one import fourfold, twice; print(fourfold(2), fourfold(0.5))"
READ = CALL + "; print(sum(sum(each.stats.cache_hits.values()) for each in (twice, fourfold)))"
KILLED = """
import os, signal
replace, done = os.replace, []
def replaced(*paths):
    if len(done) == {at}:
        os.kill(os.getpid(), signal.SIGKILL)
    done.append(paths)
    replace(*paths)
os.replace = replaced
"""


@pytest.fixture
def folder():
    """A folder with a file of two kernels."""
    made = Path(tempfile.mkdtemp())
    (made / "one.py").write_text(KERNEL)
    yield made
    shutil.rmtree(made)


def run(folder, code=CALL, before=(), **options):
    """Run Python in a process of its own, without a home."""
    paths = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": paths, "HOME": "/dev/null/home"}
    return subprocess.run(
        [*before, sys.executable, "-B", "-c", code],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **options,
    )


def works(run, stderr="", hits=None):
    """Check the printed results, what is on stderr, and how many kernels were read from disk."""
    assert run.stderr == stderr
    assert run.stdout.splitlines() == ["8 2.0", *([] if hits is None else [str(hits)])]


def test_without_any_folder_kernels_are_compiled_in_memory(folder):
    (folder / "__pycache__").touch()
    works(run(folder), UNKEPT)


def test_on_a_full_disk(folder):
    def full():
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    works(run(folder, preexec_fn=full), UNKEPT)


def test_kernels_are_read_from_a_folder_that_cannot_be_written(folder):
    works(run(folder))
    as_others = []
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("needs setpriv, which lets root write only what permissions allow")
        as_others = ["setpriv", "--bounding-set=-dac_override"]
    (folder / "__pycache__").chmod(0o555)
    works(run(folder, READ, as_others), hits=2)
    (folder / "__pycache__").chmod(0o755)


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("left", [0, 20])
def test_damaged_files_are_written_again(folder, ending, left):
    works(run(folder))
    for path in (folder / "__pycache__").glob(f"*.{ending}"):
        path.write_bytes(path.read_bytes()[:left])
    works(run(folder))
    works(run(folder, READ), hits=2)


def test_the_code_of_one_signature_under_another_is_not_run(folder):
    works(run(folder))
    for name in ("one.twice", "one.fourfold"):
        first, second = sorted((folder / "__pycache__").glob(f"{name}-*.nbc"))
        between = first.with_suffix(".between")
        first.rename(between)
        second.rename(first)
        between.rename(second)
    works(run(folder, READ), hits=0)
    works(run(folder, READ), hits=2)


@pytest.mark.parametrize("at", range(4))
def test_a_process_that_is_killed_as_it_writes_spoils_nothing(folder, at):
    killed = run(folder, KILLED.format(at=at) + CALL)
    assert killed.returncode == -signal.SIGKILL
    works(run(folder))
    works(run(folder, READ), hits=2)


def test_processes_that_write_at_once(folder):
    command = [sys.executable, "-B", "-c", CALL]
    paths = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": paths}
    started = [
        subprocess.Popen(command, env=environment, cwd=folder, stdout=subprocess.PIPE)
        for _ in range(3)
    ]
    assert [each.communicate(timeout=120)[0] for each in started] == 3 * [b"8 2.0\n"]
    works(run(folder))
