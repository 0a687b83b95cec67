"""The example runs, in the session of the tests."""

import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).resolve().parents[3] / "examples" / "spark_release.py"


def test_the_example(spark, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(SCRIPT))
    shown = capsys.readouterr().out
    assert "smallest class: " in shown
    assert shown.count("illness") >= 2
    assert (tmp_path / "patients_release" / "_SUCCESS").is_file()
