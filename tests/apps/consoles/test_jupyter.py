"""The notebook of docs/do/use-a-console.md with JupySQL's %sql on our connection, run by nbclient."""

import pytest

from tests.apps.consoles.page import blocks

pytestmark = pytest.mark.slow

pytest.importorskip("sql.magic", reason="needs jupysql")
pytest.importorskip("ipykernel", reason="needs ipykernel")
nbclient = pytest.importorskip("nbclient", reason="needs nbclient")
nbformat = pytest.importorskip("nbformat", reason="needs nbformat")


def run(cells):
    """What each cell shows, as text, or the sentence of its error."""
    made = [nbformat.v4.new_code_cell(cell) for cell in cells]
    notebook = nbformat.v4.new_notebook(cells=made)
    nbclient.NotebookClient(notebook, allow_errors=True, timeout=120).execute()
    return [
        "\n".join(
            out["evalue"] if out["output_type"] == "error" else out["data"]["text/plain"]
            for out in cell.outputs
            if out["output_type"] != "stream"
        )
        for cell in notebook.cells
    ]


def test_the_functions_behind_the_magic():
    opened, released, helped, failed = run([*blocks("ipython"), "%sql FROM anon_help('raydn')"])
    assert "Error" not in opened
    assert "| 120 |" in released
    assert "rayden" in helped
    assert "got 'raydn'; did you mean rayden?" in failed
