"""A release that has no folder for its parts says so in one sentence."""

import tempfile
from pathlib import Path

import pytest

import anon_sql
from anon_sql import AnonError
from tests.hosts.parts.test_in_parts import CALL, TABLE

pytestmark = pytest.mark.oldest
NO_TEMPORARY = "release: there must be a folder for temporary files that can be written; set TMPDIR"


@pytest.fixture
def big(con):
    con.execute(TABLE.format(400))
    return con


def refused(con, into):
    """The sentence of a release in parts that is refused."""
    with pytest.raises(AnonError) as caught:
        anon_sql.release(con, "big", into=into, k=5, method="mondrian", part_rows=100, **CALL)
    return str(caught.value)


def test_the_temporary_folder_is_gone(big, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    assert refused(big, "release") == NO_TEMPORARY
    (tmp_path / "gone").mkdir()
    assert (
        anon_sql.release(
            big, "big", into="release", k=5, method="mondrian", part_rows=100, **CALL
        ).rows
        == 400
    )
    assert list((tmp_path / "gone").iterdir()) == []


def test_there_is_no_temporary_folder(big, monkeypatch):
    def gettempdir():
        raise FileNotFoundError(2, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(tempfile, "gettempdir", gettempdir)
    assert refused(big, "release") == NO_TEMPORARY


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs a folder that nobody can write")
def test_the_folder_of_the_target_cannot_be_written(big):
    assert refused(big, "/proc/release.parquet") == (
        "release: the folder of the target must be one that can be written, got '/proc'"
    )
