"""``anon-sql compile``: every release function has a call, and calls run once."""

import json
import tempfile

import pytest

from anon_sql import kernels
from anon_sql.apps.cli import compile
from tests.command import refused, run

CALLS = ["FROM full_domain('people', k := 3, quasi := ['city'], keep := ['*'])"]


@pytest.fixture
def record(monkeypatch, tmp_path):
    """The list of what is compiled, for now empty, where all that is compiled stays."""
    monkeypatch.setattr(compile, "_record", lambda: tmp_path / "compiled_calls.json")
    monkeypatch.setattr(compile, "CALLS", CALLS)
    return tmp_path / "compiled_calls.json"


def test_every_release_function_has_a_call(con):
    names = [name for (name,) in con.execute("SELECT name FROM anon_methods()").fetchall()]
    assert compile.known_functions() == sorted(names)


@pytest.mark.slow
def test_calls_run_once_for_each_version(record, monkeypatch):
    result = run("compile", "full_domain")
    assert result.exit_code == 0, result.output
    assert "compiling the kernels, once" in result.stderr
    assert json.loads(record.read_text())["calls"] == CALLS
    assert run("compile").stderr == "anon_sql: the kernels are compiled\n"
    assert compile.missing([*CALLS, "FROM other('people')"]) == ["FROM other('people')"]
    monkeypatch.setattr(kernels.parallel, "fingerprint", lambda: "another version")
    assert compile.missing(CALLS) == CALLS


def test_a_function_whose_extra_is_missing_is_left_out(record, monkeypatch):
    monkeypatch.setattr(compile, "EXTRAS", {"full_domain": ("no_such_module", "extra")})
    said = run("compile")
    assert said.exit_code == 0
    assert said.stderr.splitlines() == [
        "anon_sql: full_domain is left out; pip install 'anon-sql[extra]' brings what it needs",
        "anon_sql: the kernels are compiled",
    ]


def test_errors_are_one_sentence(monkeypatch, tmp_path):
    assert refused("compile", "full_domains").startswith(
        "compile: a function must be one that releases a table, or demo, got 'full_domains'; did"
    )
    (tmp_path / "file").touch()
    monkeypatch.setattr(kernels.numba_internals, "folder_of", lambda kernel: tmp_path / "file")
    assert "set NUMBA_CACHE_DIR" in refused("compile", "full_domain")


def test_without_a_temporary_folder(record, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    result = run("compile", "full_domain")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[1:] == [
        "compile: there must be a folder for temporary files that can be written; set TMPDIR"
    ]
