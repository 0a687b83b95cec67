"""The marimo notebook of docs/do/use-a-console.md, exported with what its SQL cell shows."""

import subprocess
import sys

import pytest

from tests.apps.consoles.page import blocks

pytestmark = pytest.mark.slow

pytest.importorskip("marimo", reason="needs marimo")


def test_a_sql_cell(tmp_path):
    notebook, page = tmp_path / "notebook.py", tmp_path / "notebook.html"
    (text,) = blocks("py")
    notebook.write_text(text.replace("count(*)", "7000 + count(*)"))
    done = subprocess.run(
        [sys.executable, "-m", "marimo", "export", "html", str(notebook), "-o", str(page)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "7120" in page.read_text(encoding="utf-8")
