"""A notebook with JupySQL's %sql on our connection, run by nbclient."""

import pytest

pytest.importorskip("sql.magic", reason="needs jupysql")
pytest.importorskip("ipykernel", reason="needs ipykernel")
nbclient = pytest.importorskip("nbclient", reason="needs nbclient")
nbformat = pytest.importorskip("nbformat", reason="needs nbformat")

OPENED = """\
import anon_sql
con = anon_sql.connect()
con.execute("CREATE TABLE people AS SELECT i % 40 AS age, i % 3 AS ward FROM range(120) AS r(i)")
%load_ext sql
%sql con --alias anon
"""


def run(*cells):
    """What each cell shows, as text, or the sentence of its error."""
    made = [nbformat.v4.new_code_cell(cell) for cell in (OPENED, *cells)]
    notebook = nbformat.v4.new_notebook(cells=made)
    nbclient.NotebookClient(notebook, allow_errors=True, timeout=120).execute()
    return [
        "\n".join(
            out["evalue"] if out["output_type"] == "error" else out["data"]["text/plain"]
            for out in cell.outputs
            if out["output_type"] != "stream"
        )
        for cell in notebook.cells[1:]
    ]


def test_the_functions_behind_the_magic():
    counted, line, failed = run(
        "%%sql\nSELECT count(*) AS n\nFROM rayden('people', k := 5, qids := ['age'])",
        "%sql SELECT name FROM anon_help() WHERE name = 'rayden'",
        "%sql FROM anon_help('raydn')",
    )
    assert "| 120 |" in counted
    assert "rayden" in line
    assert failed.endswith("got 'raydn'; did you mean rayden?")
