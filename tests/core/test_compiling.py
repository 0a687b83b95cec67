"""That kernels are compiled is said once, also where stderr is no terminal."""

import os
import subprocess
import sys

import pytest

from anon_sql.core.running import NOTICE
from anon_sql.kernels import shipped
from anon_sql.kernels.numba_internals import FINDS

pytestmark = pytest.mark.quick

CODE = """
from anon_sql import kernels
from anon_sql.core.running import announce
announce()
kernels.parallel.cache_folder()
kernels.numba_internals.index_of(kernels.hashing.mix).touch()
announce()
"""


@pytest.mark.skipif(not FINDS, reason="where numba keeps what it compiles is not known")
@pytest.mark.skipif(shipped.FOLDER.exists(), reason="the wheel has brought the kernels")
def test_compiling_is_announced_in_a_pipe_until_kernels_are_on_disk(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONIOENCODING": "utf-8"}
    run = subprocess.run(
        [sys.executable, "-c", CODE], env=environment, capture_output=True, check=True
    )
    assert run.stderr.decode() == NOTICE
