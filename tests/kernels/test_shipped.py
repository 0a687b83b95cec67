"""Compiled kernels that a wheel brings are used where they fit, and nowhere else."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from anon_sql.kernels import numba_internals, shipped

CALL = """
import sys
from pathlib import Path
import numpy as np
from anon_sql import kernels
from anon_sql.kernels import numba_internals, shipped

HOW = numba_internals.compiled_files, numba_internals.copy_compiled
state, keys = np.arange(4, dtype=np.uint64), np.arange(4, dtype=np.int64)
if len(sys.argv) > 1:
    folder = Path(kernels.hashing.mix.stats.cache_path)
    assert shipped.take(folder, *HOW, Path(sys.argv[1])) is True
kernels.hashing.mix(state, keys)
print(sum(kernels.hashing.mix.stats.cache_hits.values()), state.tolist(), kernels.hashing.mix.stats.cache_path)
"""
HOW = numba_internals.compiled_files, numba_internals.copy_compiled
HERE = shipped.machine() in shipped.LEVELS


def called(cache, *arguments, **environment):
    """Return what a process prints that calls one kernel."""
    own = {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(Path(__file__).parents[2])}
    ended = subprocess.run(
        [sys.executable, "-c", CALL, *map(str, arguments)],
        env={**os.environ, **own, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    hits, _, rest = ended.stdout.strip().partition(" ")
    state, _, folder = rest.rpartition(" ")
    return int(hits), json.loads(state), Path(folder)


def listed(**changed):
    """Return the list of a wheel that was made here."""
    level = {"NUMBA_CPU_NAME": "any", "NUMBA_CPU_FEATURES": "+sse2"}
    if shipped.machine() == "aarch64":
        level["NUMBA_CPU_FEATURES"] = "+neon"
    return {"needs": {**shipped.needs(), **changed}, "level": level}


@pytest.mark.slow
@pytest.mark.skipif(not (HERE and numba_internals.SHIPS), reason="no wheel brings kernels here")
def test_kernels_of_another_processor_run_here(tmp_path):
    level = shipped.LEVELS[shipped.machine()]
    hits, compiled, folder = called(tmp_path / "made", **level)
    assert hits == 0
    shipped_files = tmp_path / "shipped"
    shipped_files.mkdir()
    for file in numba_internals.compiled_files(folder):
        shutil.copyfile(file, shipped_files / file.name)
    (shipped_files / shipped.LIST).write_text(json.dumps({**listed(), "level": level}))
    if not shipped.fits(json.loads((shipped_files / shipped.LIST).read_text())):
        pytest.skip("this processor is below the common level")
    assert called(tmp_path / "here", shipped_files)[:2] == (1, compiled)
    assert called(tmp_path / "own")[:2] == (0, compiled)


@pytest.mark.parametrize("name", [*shipped.needs()])
def test_kernels_of_other_versions_or_machines_are_not_taken(tmp_path, name):
    source, folder = tmp_path / "source", tmp_path / "folder"
    source.mkdir()
    (source / "hashing.mix-1.py311.1.nbc").write_bytes(b"code")
    (source / shipped.LIST).write_text(json.dumps(listed(**{name: "another"})))
    assert not shipped.take(folder, *HOW, source)
    assert not folder.exists()
    (source / shipped.LIST).write_text(json.dumps(listed()))
    assert shipped.take(folder, *HOW, source)
    assert (folder / "hashing.mix-1.py311.1.nbc").read_bytes() == b"code"
    assert shipped.take(folder, *HOW, source)


def test_a_processor_without_what_kernels_use_takes_none():
    made = listed()
    made["level"]["NUMBA_CPU_FEATURES"] += ",+a_feature_of_the_future"
    assert not shipped.fits(made)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"level": {}}', '{"needs": 1, "level": 2}'])
def test_a_damaged_list_brings_nothing(tmp_path, text):
    (tmp_path / shipped.LIST).write_text(text)
    assert not shipped.take(tmp_path / "folder", *HOW, tmp_path)


def test_a_folder_that_cannot_be_written_takes_none(tmp_path):
    (tmp_path / shipped.LIST).write_text(json.dumps(listed()))
    (tmp_path / "file").write_text("")
    assert not shipped.take(tmp_path / "file" / "folder", *HOW, tmp_path)
