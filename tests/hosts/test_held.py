"""What a process holds for a connection is bounded, and gone when its database is closed."""

import gc

import duckdb
import pytest

import anon_sql
from anon_sql.core import pseudonyms
from anon_sql.errors import AnonError
from anon_sql.hosts.duckdb import binding, register, rows
from tests.sentence import fails

pytestmark = [pytest.mark.oldest, pytest.mark.quick]

KEY = "0123456789abcdef"
LATE = (
    "CREATE VIEW late AS SELECT i % 7 AS n, if(i < 9000, 'w', error('no further')) AS w "
    "FROM range(10000) r(i)"
)
RELEASE = "FROM rayden('late', k := 5, quasi := ['n', 'w'])"


def held():
    """The numbers of the rows, of the keys, of the connections and of the tables that are held."""
    gc.collect()
    tokens = {key[0] for key in binding._looked_up}
    return set(rows._open), set(pseudonyms._keys), set(register._connections), tokens


def planted(path=":memory:"):
    """A connection whose database holds rows of a failed statement, and a key."""
    con = anon_sql.connect(path)
    con.execute(LATE)
    assert fails(con, RELEASE) == "no further"
    con.execute(f"SELECT anon_pseudonym('x', '{KEY}')").fetchall()
    return con


def more(before):
    """How much more of each kind is held than before."""
    return [len(now - then) for now, then in zip(held(), before, strict=True)]


def test_rows_and_keys_go_with_the_database(tmp_path):
    before = held()
    con, other = planted(), planted(str(tmp_path / "a.duckdb"))
    assert more(before)[:3] == [2, 2, 2]
    con.close()
    assert more(before)[:2] == [1, 1]
    other.close()
    assert more(before)[:2] == [0, 0]
    del con, other
    assert more(before) == [0, 0, 0, 0]


def test_a_connection_that_is_dropped_and_not_closed():
    before = held()
    con = planted()
    del con
    assert more(before) == [0, 0, 0, 0]


def test_rows_of_a_cursor_go_with_the_database():
    before = held()
    con = planted()
    cursor = con.cursor()
    assert fails(cursor, RELEASE) == "no further"
    cursor.close()
    assert more(before)[:2] == [2, 1]
    con.close()
    assert more(before)[:2] == [0, 0]


def test_unregister_frees_what_is_held():
    before = held()
    con = planted()
    anon_sql.unregister(con)
    assert more(before) == [0, 0, 0, 0]
    assert con.sql("SELECT 1").fetchall() == [(1,)]
    con.close()


def test_another_database_keeps_its_own():
    con, other = planted(), planted()
    other.execute(f"PREPARE mine AS SELECT anon_pseudonym(i, '{KEY}') FROM range(2) r(i)")
    first = other.execute("EXECUTE mine").fetchall()
    con.close()
    assert other.execute("EXECUTE mine").fetchall() == first
    other.close()


def test_the_keys_are_bounded(monkeypatch):
    """A prepared statement that is used keeps its key, however many others are."""
    monkeypatch.setattr(pseudonyms, "MAX_HELD_KEYS", 3)
    with anon_sql.connect() as con:
        con.execute(f"PREPARE mine AS SELECT anon_pseudonym(i, '{KEY}') FROM range(2) r(i)")
        mine = con.execute("EXECUTE mine").fetchall()
        for at in range(9):
            con.execute(f"SELECT anon_pseudonym('x', '{KEY}{at}')").fetchall()
            assert con.execute("EXECUTE mine").fetchall() == mine
        assert len(pseudonyms._keys) == len(pseudonyms._names) == 3


def test_a_key_that_was_not_used_for_long_is_forgotten(monkeypatch):
    monkeypatch.setattr(pseudonyms, "MAX_HELD_KEYS", 3)
    old, used, *_ = [pseudonyms.hold("f", f"{KEY}{at}", lambda *_: "", "a") for at in range(3)]
    assert pseudonyms.key_of("f", used) == f"{KEY}1".encode()
    for at in range(3, 5):
        pseudonyms.hold("f", f"{KEY}{at}", lambda *_: "", "a")
    assert pseudonyms.key_of("f", used) == f"{KEY}1".encode()
    with pytest.raises(AnonError) as caught:
        pseudonyms.key_of("f", old)
    assert str(caught.value) == (
        "f: key must be one of the last 3 that this process was given, got an older one; "
        "prepare the statement again"
    )
    pseudonyms.forget("a")


def test_a_key_has_one_name_in_a_database():
    def held_as(database):
        return pseudonyms.hold("anon_pseudonym", KEY, lambda *_: "", database)

    assert held_as("a") == held_as("a") != held_as("b")
    pseudonyms.forget("a")
    assert pseudonyms.key_of("anon_pseudonym", held_as("b")) == KEY.encode()
    pseudonyms.forget("a")
    name = held_as("b")
    pseudonyms.forget("b")
    with pytest.raises(AnonError, match="key must be one of the last"):
        pseudonyms.key_of("anon_pseudonym", name)


def test_values_of_the_data_are_not_cached():
    before = held()
    with anon_sql.connect() as con:
        con.execute("CREATE TABLE t AS SELECT 'Zanzibarella' AS n FROM range(9)")
        con.execute("FROM rayden('t', k := 5, quasi := ['n'])").fetchall()
        with pytest.raises(duckdb.Error):
            con.execute("FROM rayden('t', k := 50, quasi := ['n'])").fetchall()
    del con
    assert more(before) == [0, 0, 0, 0]
    lists = [each for each in gc.get_objects() if type(each) is list]
    assert not [each for each in lists if any(type(x) is str and x == "Zanzibarella" for x in each)]
