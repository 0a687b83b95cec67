"""A marimo notebook whose SQL cell runs on our connection, exported with its output."""

import subprocess
import sys

import pytest

pytest.importorskip("marimo", reason="needs marimo")

NOTEBOOK = """\
import marimo

app = marimo.App()


@app.cell
def _():
    import anon_sql
    import marimo as mo

    con = anon_sql.connect()
    con.execute("CREATE TABLE people AS SELECT i % 40 AS age, i % 3 AS ward FROM range(120) AS r(i)")
    return con, mo


@app.cell
def _(con, mo):
    mo.sql("SELECT 7000 + count(*) AS n FROM rayden('people', k := 5, qids := ['age'])", engine=con)
    return


if __name__ == "__main__":
    app.run()
"""


def test_a_sql_cell(tmp_path):
    notebook, page = tmp_path / "notebook.py", tmp_path / "notebook.html"
    notebook.write_text(NOTEBOOK)
    done = subprocess.run(
        [sys.executable, "-m", "marimo", "export", "html", str(notebook), "-o", str(page)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "7120" in page.read_text(encoding="utf-8")
