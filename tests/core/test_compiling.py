"""That kernels are compiled is said once, also where stderr is no terminal."""

import os
import subprocess
import sys

import pytest

from anon_sql.core.running import NOTICE

pytestmark = pytest.mark.quick

CODE = """
from pathlib import Path
from anon_sql.core.running import announce
announce()
from anon_sql.kernels.hashing import mix
folder = Path(mix.stats.cache_path)
folder.mkdir(parents=True, exist_ok=True)
(folder / "hashing.mix-19.py311.nbi").touch()
announce()
"""


def test_compiling_is_announced_in_a_pipe_until_kernels_are_on_disk(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONIOENCODING": "utf-8"}
    run = subprocess.run(
        [sys.executable, "-c", CODE], env=environment, capture_output=True, check=True
    )
    assert run.stderr.decode() == NOTICE
