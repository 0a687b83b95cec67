"""What numba compiled is removed with a change of the kernel or of one that it calls."""

import pytest

from tests import kernel_caches
from tests.kernel_caches import closures, remove_stale

pytestmark = pytest.mark.quick


@pytest.fixture
def kernels(tmp_path, monkeypatch):
    """Three kernels: ``top`` calls ``low``, by way of nothing else; ``other`` calls none."""
    folder = tmp_path / "anon_sql" / "kernels" / "tree"
    (folder / "__pycache__").mkdir(parents=True)
    for name, text in {
        "top.py": "from anon_sql.kernels.tree import middle\n",
        "middle.py": "from anon_sql.kernels.tree.low import add\n",
        "low.py": "import numpy\n",
        "other.py": "import numpy\n",
    }.items():
        (folder / name).write_text(text)
        for ending in ("run-1.py311.nbi", "run-1.py311.1.nbc"):
            (folder / "__pycache__" / f"{name.removesuffix('.py')}.{ending}").touch()
    monkeypatch.setattr(kernel_caches, "KERNELS", folder.parent)
    return folder


def cached(kernels):
    return {path.name.split(".")[0] for path in (kernels / "__pycache__").iterdir()}


def test_what_calls_a_changed_kernel_is_removed(kernels):
    known = closures()
    assert not remove_stale(known, closures(), kernels)
    (kernels / "low.py").write_text("import numpy as np\n")
    assert remove_stale(known, closures(), kernels)
    assert cached(kernels) == {"other"}


def test_nothing_known_and_a_new_file(kernels):
    known = closures()
    (kernels / "new.py").touch()
    assert remove_stale(known, closures(), kernels)
    assert cached(kernels) == {"top", "middle", "low", "other"}
    assert remove_stale({}, closures(), kernels)
    assert cached(kernels) == set()
