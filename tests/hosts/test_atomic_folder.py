"""A folder is written whole or not at all, and only a folder of a release is replaced."""

import duckdb
import pytest

from anon_sql import AnonError
from anon_sql.hosts import files as parquet_files
from anon_sql.hosts.files import (
    atomic_folder,
    files_of,
    remove_temporary,
    require_new_folder,
    stored,
    write_files,
)

pytestmark = pytest.mark.oldest

HOSTILE = 'o\'u[t] "é" *.parquet'


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def written(con, folder, rows):
    """Write the numbers below ``rows`` as a release of them is written."""
    with (
        atomic_folder(folder) as unfinished,
        stored(con, f"FROM range({rows}) r(rowid)", {}) as all_,
    ):
        write_files(con, all_.files, unfinished, all_.rows)


@pytest.mark.parametrize("rows", [0, 1, 100, 101, 250])
def test_the_names_of_files_give_the_order_of_rows(con, tmp_path, monkeypatch, rows):
    monkeypatch.setattr(parquet_files, "ROWS", 100)
    folder = tmp_path / HOSTILE
    written(con, folder, rows)
    assert names(tmp_path) == [HOSTILE]
    files = files_of(folder)
    assert [path.name for path in files] == names(folder)
    assert len(files) == max(1, -(-rows // 100))
    read = [duckdb.read_parquet(str(path.rename(tmp_path / path.name))) for path in files]
    assert [value for table in read for (value,) in table.fetchall()] == list(range(rows))
    assert read[0].columns == ["rowid"]
    assert con.execute("FROM duckdb_tables()").fetchall() == []


def test_rows_that_are_missing_are_an_error_and_leave_the_old_folder(con, tmp_path):
    folder = tmp_path / "out"
    written(con, folder, 5)
    lacking = pytest.raises(AnonError, match="every row must be written, got 5 of 6")
    with lacking, atomic_folder(folder) as unfinished:
        write_files(con, ["FROM range(5)"], unfinished, 6)
    assert names(tmp_path) == ["out"]
    assert duckdb.execute(f"SELECT count(*) FROM '{folder}/*.parquet'").fetchall() == [(5,)]
    written(con, folder, 7)
    assert names(tmp_path) == ["out"]
    assert duckdb.execute(f"SELECT count(*) FROM '{folder}/*.parquet'").fetchall() == [(7,)]


def test_what_somebody_else_put_there_is_never_removed(con, tmp_path):
    folder = tmp_path / "out"
    written(con, folder, 5)
    require_new_folder("OUT", folder, True, "")
    with pytest.raises(AnonError, match="OUT must be a new folder"):
        require_new_folder("OUT", folder, False, "")
    other = folder / "release-00007.parquet"  # a file of another program that has our name
    duckdb.sql("SELECT 1 AS one").write_parquet(str(other))
    rule = f"must hold only files of an earlier release, got '{other.name}' in"
    with pytest.raises(AnonError, match=rule):
        require_new_folder("OUT", folder, True, "")
    with pytest.raises(AnonError, match=rule):
        written(con, folder, 9)
    assert (names(tmp_path), len(names(folder))) == (["out"], 2)
    other.unlink()
    (folder / "sub").mkdir()
    with pytest.raises(AnonError, match="got 'sub' in"):
        require_new_folder("OUT", folder, True, "")


def test_only_what_nobody_writes_is_removed(con, tmp_path):
    folder = tmp_path / "out"
    with atomic_folder(folder) as unfinished:
        left = unfinished.with_name(unfinished.name.replace(".tmp", "0.tmp"))
        left.mkdir()
        (left / "release-00000.parquet").write_text("left")
        remove_temporary(folder)
        assert [name for name in names(tmp_path) if not name.endswith(".lock")] == [unfinished.name]
    written(con, folder, 5)
    replaced = unfinished.with_suffix(".old")
    folder.rename(replaced)  # a process was killed before the new folder had its name
    remove_temporary(folder)
    assert names(tmp_path) == ["out"]
    written(con, replaced, 3)  # or after it had
    remove_temporary(folder)
    assert names(tmp_path) == ["out"]
    assert duckdb.execute(f"SELECT count(*) FROM '{folder}/*.parquet'").fetchall() == [(5,)]
