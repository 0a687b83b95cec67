"""``anon-sql release IN OUT/`` writes a folder of Parquet files that verify and report read."""

import signal
import subprocess
import sys

import duckdb
import pytest

from anon_sql.core.names import exactly
from anon_sql.hosts import files
from tests.apps.test_release_in_parts import ROLES, source  # noqa: F401
from tests.command import refused, run

OUT = "o'u[t] é"
KILLED = """
import os, signal
from anon_sql.apps.cli import output
output.write_files = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
from anon_sql.apps.main import main
main()
"""


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("parts", [[], ["--part-rows", "100"]], ids=["one statement", "parts"])
def test_a_folder_is_verified_as_one_file(source, tmp_path, monkeypatch, parts):  # noqa: F811
    monkeypatch.setattr(files, "ROWS", 250)
    out = tmp_path / OUT
    call = ["release", source, f"{out}/", "--k", "5", "--method", "mondrian", *ROLES, *parts]
    result = run(*call, "--manifest")
    assert result.exit_code == 0, result.output
    assert names(tmp_path) == sorted([OUT, f"{OUT}.anon.json", source.name])
    assert names(out) == [f"release-0000{number}.parquet" for number in range(3)]
    verified = run("verify", f"{out}/", "--raw", source)
    assert "holds    the files are those that were written" in verified.stdout
    assert verified.exit_code == 0
    assert refused(*call).endswith("which exists; --overwrite replaces it")
    (out / "release-00002.parquet").rename(tmp_path / "gone.parquet")
    assert "the files are those that were written (another SHA-256)" in refused("verify", out)
    assert run(*call, "--manifest", "--overwrite").exit_code == 0
    assert run("verify", out, "--raw", source).exit_code == 0
    (out / "notes.txt").write_text("mine")
    said = refused(*call, "--overwrite")
    assert said.startswith("release: a folder that is replaced must hold only files of an earlier")
    assert len(names(out)) == 4


def test_a_folder_of_parquet_files_is_a_source(source, tmp_path):  # noqa: F811
    (tmp_path / "in").mkdir()
    for rest in range(2):
        duckdb.read_parquet(exactly(source)).filter(f"id % 2 = {rest}").write_parquet(
            f"{tmp_path}/in/{rest}.parquet"
        )
    made = run("release", f"{tmp_path}/in/", tmp_path / "o.csv", *ROLES, "--method", "mondrian")
    assert made.exit_code == 0
    assert len((tmp_path / "o.csv").read_text().splitlines()) == 601
    (tmp_path / "empty").mkdir()
    said = refused("release", tmp_path / "empty", tmp_path / "p.csv", *ROLES)
    assert said.startswith(
        "release: IN must be a file or a folder of Parquet files, got the folder"
    )
    said = refused("release", tmp_path / "in" / "0.parquet", tmp_path / "in", *ROLES)
    assert said.startswith("release: OUT must be a different file from IN")


@pytest.mark.slow  # in a process of its own
def test_the_run_after_a_killed_one_removes_its_folder(source, tmp_path):  # noqa: F811
    arguments = ["release", str(source), f"{tmp_path}/out/", *ROLES, "--method", "mondrian"]
    killed = subprocess.run([sys.executable, "-c", KILLED, *arguments], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(list(tmp_path.glob(".anon-sql-*.tmp"))) == 1
    assert run(*arguments, "--k", 900).exit_code == 1
    assert names(tmp_path) == [source.name]
