"""A release into a folder has the rows of the release into one file, in their order."""

import duckdb
import pytest

import anon_sql
from anon_sql import AnonError
from anon_sql.core.names import exactly
from anon_sql.hosts import files
from tests.hosts.parts.test_in_parts import CALL, TABLE
from tests.hosts.parts.test_resume import broken_off

pytestmark = pytest.mark.oldest

FOLDER = 'o\'u[t] "é"'


@pytest.fixture
def big(con, monkeypatch):
    monkeypatch.setattr(files, "ROWS", 85)
    con.execute(TABLE.format(400))
    return con


def rows_of(folder):
    found = [duckdb.read_parquet(exactly(path)) for path in files.files_of(folder)]
    return [row for table in found for row in table.fetchall()]


@pytest.mark.parametrize("given", [{}, {"part_rows": 100}], ids=["one statement", "parts"])
def test_files_of_a_folder_are_one_file_cut(big, tmp_path, given):
    call = {"k": 5, "method": "mondrian", **CALL, **given}
    anon_sql.release(big, "big", into=str(tmp_path / "one.parquet"), **call)
    folder = tmp_path / FOLDER
    for _ in range(2):
        made = anon_sql.release(big, "big", into=f"{folder}/", **call, overwrite=True)
        assert made.rows == 400
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted([FOLDER, "one.parquet"])
        assert len(files.files_of(folder)) == 5
        assert rows_of(folder) == duckdb.execute(f"FROM '{tmp_path}/one.parquet'").fetchall()
    with pytest.raises(AnonError, match=r"^release: into must be a new folder, got .*; overwrite="):
        anon_sql.release(big, "big", into=str(folder), **call)


def test_resume_and_errors_leave_no_folder(big, tmp_path, monkeypatch):
    call = {"k": 5, "method": "mondrian", "part_rows": 100, **CALL}
    folder = tmp_path / FOLDER
    for resume in (False, True):
        with monkeypatch.context() as patched:
            broken_off(patched, 3)
            with pytest.raises(AnonError, match="broken off"):
                anon_sql.release(big, "big", into=f"{folder}/", **call, resume=resume)
        assert not folder.exists()
        assert len(list(tmp_path.iterdir())) == resume
    assert anon_sql.release(big, "big", into=f"{folder}/", **call, resume=True).rows == 400
    assert list(tmp_path.iterdir()) == [folder]
    assert len(rows_of(folder)) == 400


def test_a_name_without_a_slash_is_a_table(big, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "release").mkdir()
    anon_sql.release(big, "big", into="release", k=5, method="mondrian", **CALL)
    assert big.table("release").shape[0] == 400
    (tmp_path / "x.parquet").mkdir()
    with pytest.raises(AnonError, match=r"into must be a new folder, got 'x\.parquet', which"):
        anon_sql.release(big, "big", into="x.parquet", k=5, **CALL)
    with pytest.raises(AnonError, match="into must be in a directory that exists"):
        anon_sql.release(big, "big", into="nowhere/x/", k=5, **CALL)
