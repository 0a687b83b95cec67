"""The stored macros: copied into databases in memory, never read if altered, and not needed."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import duckdb
import pytest

import anon_sql
from anon_sql.hosts.duckdb import macros, stored_catalog
from anon_sql.hosts.duckdb.register import _add_functions, _add_macros

pytestmark = pytest.mark.oldest

TABLE = "CREATE TABLE t AS SELECT i % 3 AS a FROM range(30) AS r(i)"
RELEASE = "SELECT count(*) FROM rayden('t', k := 2, quasi := ['a'])"
KEPT = "SELECT comment FROM duckdb_functions() WHERE function_name = 'rayden'"
ATTACHED = "SELECT database_name FROM duckdb_databases() WHERE NOT internal ORDER BY ALL"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder for stored macros, and no other one."""
    made = tmp_path / "stored"
    monkeypatch.setattr(stored_catalog, "folders", lambda: iter([made]))
    monkeypatch.setattr(stored_catalog, "_gave_up", [])
    return made


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The file of stored macros, as the first connection makes it."""
    with pytest.MonkeyPatch.context() as patch:
        place = tmp_path_factory.mktemp("made") / "stored"
        patch.setattr(stored_catalog, "folders", lambda: iter([place]))
        patch.setattr(stored_catalog, "_gave_up", [])
        anon_sql.connect().close()
    (file,) = place.iterdir()
    return file


@pytest.fixture
def file(folder, made):
    """The file of stored macros, in the folder."""
    shutil.copytree(made.parent, folder)
    return folder / made.name


def copied(con):
    """Return whether the macros were copied: the parsed ones have comments."""
    return con.execute(KEPT).fetchall() == [(None,)]


def works(con):
    """Return whether a release runs."""
    con.execute(TABLE)
    return con.execute(RELEASE).fetchall() == [(30,)]


def digests(con):
    (place,) = macros.places(con.execute(macros.LOOK).fetchall())
    return {name: macro.digest for name, macro in place.macros.items()}


def test_the_first_connection_makes_the_file_and_copies_it(folder):
    for _ in range(2):
        with anon_sql.connect() as con:
            assert copied(con)
            assert works(con)
            assert con.execute(ATTACHED).fetchall() == [("memory",)]
        assert len(list(folder.iterdir())) == 1


def test_copied_macros_are_what_parsed_ones_are(file):
    with anon_sql.connect() as con, duckdb.connect() as other:
        _add_functions(other, ())
        _add_macros(other, temporary=False)
        found, parsed = digests(con), digests(other)
        for of_each in (macros.DATABASE, macros.MARK):
            assert found.pop(of_each)
            assert parsed.pop(of_each)
        assert found == parsed
        mark = con.execute("SELECT __anon_registered()").fetchall()
        assert mark == other.execute("SELECT __anon_registered()").fetchall()


def test_register_copies_into_the_current_database_in_memory(file):
    with duckdb.connect() as con:
        con.execute('ATTACH \':memory:\' AS "of ""mine"; USE "of ""mine"')
        anon_sql.register(con)
        assert copied(con)
        assert works(con)
        assert con.execute("SELECT current_database()").fetchall() == [('of "mine',)]
        assert con.execute(ATTACHED).fetchall() == [("memory",), ('of "mine',)]
        cursor = con.cursor()
        cursor.execute('USE "of ""mine"')
        assert anon_sql.register(cursor).execute(RELEASE).fetchall() == [(30,)]


def test_another_schema_gets_the_macros_by_parsing(file):
    with duckdb.connect() as con:
        con.execute("CREATE SCHEMA s; USE s")
        assert works(anon_sql.register(con))
        made = "SELECT DISTINCT schema_name FROM duckdb_functions() WHERE function_name = 'rayden'"
        assert con.execute(made).fetchall() == [("s",)]


@pytest.mark.parametrize(
    "setting", ["enable_external_access = false", "disabled_filesystems = 'LocalFileSystem'"]
)
def test_a_database_that_may_read_no_files_parses(file, setting):
    with duckdb.connect() as con:
        con.execute(f"SET {setting}")
        anon_sql.register(con)
        assert not copied(con)
        assert works(con)
        assert con.execute(ATTACHED).fetchall() == [("memory",)]


def test_a_locked_configuration_does_not_matter(file):
    with duckdb.connect() as con:
        con.execute("SET lock_configuration = true")
        anon_sql.register(con)
        assert copied(con)
        assert works(con)


def planted(file, change):
    """Put a file with a changed macro in the place of the stored one; return its path."""
    other = file.with_name("planted")
    shutil.copy(file, other)
    with duckdb.connect(str(other)) as con:
        con.execute(change)
    return other.replace(file)


CHANGE = "CREATE OR REPLACE MACRO anon_mid(label) AS 'planted'"
MID = "SELECT anon_mid('[1, 3]')"


def test_an_altered_file_is_not_read_but_made_anew(file):
    planted(file, CHANGE)
    assert sha256(file.read_bytes()).hexdigest() not in file.name
    assert stored_catalog.find() is None
    with anon_sql.connect() as con:
        assert con.execute(MID).fetchall() == [(2.0,)]
        assert copied(con)
    made = stored_catalog.find()
    assert sha256(made.read_bytes()).hexdigest() in made.name


def test_a_damaged_file_is_not_read(file):
    for content in (b"", b"no database", file.read_bytes()[:-4096]):
        file.write_bytes(content)
        with anon_sql.connect() as con:
            assert con.execute(MID).fetchall() == [(2.0,)]


def test_a_log_beside_the_file_is_not_replayed(file):
    log = file.with_name(f"{file.name}.wal")
    log.write_bytes(b"")
    assert stored_catalog.find() is None
    log.unlink()
    assert stored_catalog.find() == file


@pytest.mark.parametrize("mode", [0o775, 0o757], ids=oct)
def test_a_folder_that_others_can_write_is_not_used(file, mode):
    """Whatever they put there may have the digest that it promises."""
    assert stored_catalog.find() == file
    file.parent.chmod(mode)
    assert stored_catalog.find() is None
    with anon_sql.connect() as con:
        assert not copied(con)


def test_a_file_or_a_folder_of_somebody_else_is_not_used(file, monkeypatch):
    itself = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: itself + 1)
    monkeypatch.setattr(stored_catalog, "_package_owner", lambda: itself + 1)
    assert stored_catalog.find() is None
    assert not copied(anon_sql.connect())


def test_links_are_not_followed(file):
    elsewhere = file.parent.parent / "elsewhere"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)
    assert stored_catalog.find() is None


def test_without_a_folder_macros_are_parsed(monkeypatch):
    monkeypatch.setattr(stored_catalog, "folders", lambda: iter([]))
    monkeypatch.setattr(stored_catalog, "_gave_up", [])
    with anon_sql.connect() as con:
        assert not copied(con)
        assert works(con)


def test_a_disk_that_is_full_is_tried_once(folder, monkeypatch):
    tried = []

    def full(*_):
        tried.append(1)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    for _ in range(2):
        with anon_sql.connect() as con:
            assert not copied(con)
            assert works(con)
    assert len(tried) == 1
    assert list(folder.iterdir()) == []


def test_no_home_is_needed(monkeypatch, tmp_path):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    before = list(stored_catalog.folders())
    monkeypatch.setattr(stored_catalog, "user_cache_path", lambda *_, **__: Path("~/.cache"))
    assert list(stored_catalog.folders()) == before[:-1]
    assert before[0] == tmp_path / "anon_sql_macros"


@pytest.mark.slow
def test_processes_that_make_the_file_at_once(tmp_path):
    script = (
        "import sys, pathlib, anon_sql\n"
        "from anon_sql.hosts.duckdb import stored_catalog\n"
        "stored_catalog.folders = lambda: iter([pathlib.Path(sys.argv[1])])\n"
        f"print(anon_sql.connect().execute({MID!r}).fetchall())\n"
    )
    begun = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path / "stored")],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for _ in range(3)
    ]
    assert [each.communicate()[0] for each in begun] == ["[(2.0,)]\n"] * 3
    made = list((tmp_path / "stored").iterdir())
    assert made
    assert all(sha256(path.read_bytes()).hexdigest() in path.name for path in made)


def test_threads_that_open_at_once(file):
    with ThreadPoolExecutor(4) as pool:
        for con in pool.map(lambda _: anon_sql.connect(), range(8)):
            assert copied(con)
            assert con.execute(MID).fetchall() == [(2.0,)]


def test_what_killed_processes_left_is_removed(folder):
    folder.mkdir()
    (old := folder / ".new-old").mkdir()
    (new := folder / ".new-new").mkdir()
    os.utime(old, (0, 0))
    anon_sql.connect().close()
    assert not old.exists()
    assert new.exists()


def test_a_macro_of_somebody_else_is_not_replaced_by_a_copy(file):
    for kind in ("", "TEMP "):
        with duckdb.connect() as con:
            con.execute(f"CREATE {kind}MACRO canon(x) AS x + 1")
            with pytest.raises(anon_sql.AnonError, match="must belong to anon_sql, got canon"):
                anon_sql.register(con)
            assert con.execute("SELECT canon(1)").fetchall() == [(2,)]


def test_a_macro_that_replaced_a_copied_one_is_not_replaced(file):
    with anon_sql.connect() as con:
        con.execute("CREATE OR REPLACE MACRO anon_mid(label) AS 'mine'")
        with pytest.raises(anon_sql.AnonError, match="must belong to anon_sql, got anon_mid;"):
            anon_sql.register(con)
        assert con.execute(MID).fetchall() == [("mine",)]
        anon_sql.register(con, overwrite=True)
        assert con.execute(MID).fetchall() == [(2.0,)]


def test_a_mark_of_somebody_else_is_not_replaced(file):
    with duckdb.connect() as con:
        con.execute("CREATE MACRO __anon_registered() AS 'mine'")
        with pytest.raises(
            anon_sql.AnonError, match="must belong to anon_sql, got __anon_registered;"
        ):
            anon_sql.register(con)


def test_a_macro_that_is_missing_is_made_again(file):
    with anon_sql.connect() as con:
        con.execute("DROP MACRO anon_mid")
        assert anon_sql.register(con).execute(MID).fetchall() == [(2.0,)]


@pytest.mark.parametrize("where", ["memory", "file", "persisted"])
def test_comments_are_the_users_own(where, tmp_path):
    path = ":memory:" if where == "memory" else str(tmp_path / "warehouse.duckdb")
    config = {"storage_compatibility_version": "v1.4.0"}
    with duckdb.connect(path, config=config) as con:
        anon_sql.register(con, persist=where == "persisted")
        con.execute("COMMENT ON MACRO anon_mid IS 'mine'")
        con.execute("COMMENT ON MACRO TABLE rayden IS NULL")
        con.execute(TABLE)
        assert anon_sql.register(con).execute(RELEASE).fetchall() == [(30,)]
        kept = "SELECT DISTINCT comment FROM duckdb_functions() WHERE function_name = 'anon_mid'"
        assert con.execute(kept).fetchall() == [("mine",)]
        anon_sql.unregister(con)
        left = "SELECT count(*) FROM duckdb_functions() WHERE function_name LIKE '%anon%'"
        assert con.execute(left).fetchall() == [(0,)]


def test_a_copy_of_a_database_keeps_its_macros_known(file, tmp_path):
    """COPY FROM DATABASE loses comments."""
    path = str(tmp_path / "copy.duckdb")
    with anon_sql.connect() as con:
        con.execute(TABLE)
        con.execute(f"ATTACH '{path}' AS copy (STORAGE_VERSION 'v1.4.0')")
        con.execute("COPY FROM DATABASE memory TO copy")
    with anon_sql.connect(path) as con:
        assert con.execute(RELEASE).fetchall() == [(30,)]


def test_an_open_transaction_is_kept(file):
    """Of a connection whose database has the functions, but not the macros."""
    with anon_sql.connect() as con:
        con.execute("ATTACH ':memory:' AS other; USE other; BEGIN; CREATE TABLE u AS SELECT 1 AS a")
        anon_sql.register(con)
        assert con.execute(MID).fetchall() == [(2.0,)]
        con.execute("ROLLBACK")
        tables = "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'u'"
        assert con.execute(tables).fetchall() == [(0,)]
        assert anon_sql.register(con).execute(MID).fetchall() == [(2.0,)]
