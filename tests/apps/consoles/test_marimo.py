"""The marimo notebook of docs/do/use-a-console.md, exported with what its SQL cell shows."""

import re
import subprocess
import sys
from base64 import b64decode
from urllib.parse import unquote

import pytest

from tests.apps.consoles.page import blocks

pytestmark = pytest.mark.slow

pytest.importorskip("marimo", reason="needs marimo")


def decoded(text):
    """Return a page with what it holds in base64: older versions of marimo write outputs so."""
    found = [text]
    for coded in re.findall(r"[A-Za-z0-9+/]{8,}={0,2}", text):
        if len(coded) % 4 == 0:
            found.append(decoded(unquote(b64decode(coded).decode("latin-1"))))
    return "\n".join(found)


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
    assert "7120" in decoded(page.read_text(encoding="utf-8"))
