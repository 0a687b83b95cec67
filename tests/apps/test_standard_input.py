"""``-`` instead of a file: rows come from standard input, and no copy of them stays."""

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.command import command
from tests.reused import lent

ROWS = b"age,city\n" + b"1,Bonn\n2,Ulm\n" * 20
ROOT = Path(__file__).parents[2]


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The folder for temporary files, which is empty again after a command."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def call(*arguments, rows=ROWS):
    with lent(functions=False):
        return CliRunner(env={"COLUMNS": "200"}).invoke(
            command(), list(map(str, arguments)), input=rows
        )


def test_a_release_of_standard_input_is_that_of_the_file(tmp_path, temporary):
    (tmp_path / "people.csv").write_bytes(ROWS)
    roles = ("--quasi", "age", "--keep", "city", "--k", 5)
    assert (
        call("release", tmp_path / "people.csv", tmp_path / "file.csv", *roles, rows=b"").exit_code
        == 0
    )
    ended = call("release", "-", tmp_path / "input.csv", *roles, "--manifest")
    assert ended.exit_code == 0, ended.output
    assert "from standard input" in ended.output
    assert "stdin.csv" not in ended.output
    assert (tmp_path / "input.csv").read_text() == (tmp_path / "file.csv").read_text()
    assert list(temporary.iterdir()) == []


def test_roles_and_audit_read_it_too(temporary):
    assert "age or birth" in call("roles", "-").output
    ended = call("audit", "-", "--quasi", "age", "--k", 5)
    assert ended.exit_code == 0, ended.output
    assert "standard input: 40 rows, 2 groups by age" in ended.output
    assert list(temporary.iterdir()) == []


def test_the_call_with_suggested_roles_names_it_as_it_was_typed(tmp_path, temporary):
    ended = call("release", "-", tmp_path / "out.csv", "--k", 5)
    assert ended.exit_code == 2
    assert ended.stdout.rstrip("\n").endswith(
        f"anon-sql release - {tmp_path}/out.csv --k 5 --quasi age,city"
    )
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    ("rows", "arguments", "said"),
    [
        (b"", ("release", "-", "out.csv", "--quasi", "age"), "release: IN must have a header, got an empty file"),
        (b"age\n1,2\n", ("release", "-", "out.csv", "--quasi", "age"), "release: IN must have as many fields"),
        (ROWS, ("roles", "-", "--recipe", "a.toml"), "roles: --recipe must come with a file, which is read again, got standard input"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_or_repeated_is_one_sentence(
    temporary, monkeypatch, tmp_path, rows, arguments, said
):
    monkeypatch.chdir(tmp_path)
    ended = call(*arguments, rows=rows)
    assert ended.exit_code == 1
    assert ended.stderr.splitlines()[-1].startswith(said)
    assert list(temporary.iterdir()) == []


def test_only_the_user_can_read_the_copy(tmp_path):
    """The folder and the file, while the command waits for the rest of the rows."""
    environment = {
        "PYTHONPATH": str(ROOT),
        "TMPDIR": str(tmp_path),
        "PATH": "/usr/bin",
        "HOME": str(tmp_path),
    }
    code = "from anon_sql.apps.main import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "roles", "-"], stdin=subprocess.PIPE, env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    process.stdin.write(ROWS * 20_000)  # more than the pipe and the buffer hold
    process.stdin.flush()
    (copy,) = tmp_path.glob("anon-sql-*/*.csv")
    modes = copy.parent.stat().st_mode & 0o777, copy.stat().st_mode & 0o777
    process.kill()
    process.communicate()
    assert modes == (0o700, 0o600)
