"""A ledger whose entries were changed is refused: it would tell that nobody was released."""

import pytest

import anon_sql
from anon_sql import AnonError
from tests.ledger.released import KEY, enter
from tests.sentence import fails

FUNCTIONS = ["ledger_new", "ledger_overlap"]
CHANGED = "each entry of the ledger must be as ledger_entry made it, got one that was changed"


def call(function, table="june", entity="person", ledger="anon_ledger"):
    return f"FROM {function}('{table}', '{ledger}', entity := '{entity}', key := '{KEY}')"


@pytest.fixture
def months(con):
    """Two months in the ledger, and June with the persons of both."""
    anon_sql.ledger(con)
    for name, low in (("april", 0), ("may", 50)):
        con.execute(
            f"CREATE TABLE {name} AS SELECT i::BIGINT AS person, 'm' || i AS mail, i % 3 AS s "
            f"FROM range({low}, {low + 100}) t(i)"
        )
        enter(con, name, name)
    con.execute("CREATE TABLE june AS FROM april UNION FROM may")
    return con


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    "change",
    [
        "person_hashes = []",
        "person_hashes = NULL",
        "person_hashes = person_hashes[:50]",
        "person_hashes = list_reverse(person_hashes)",
        "person_hashes = person_hashes || person_hashes",
        "person_hashes = [NULL::BLOB] || person_hashes[2:]",
        "person_hashes = [person_hashes[1] || person_hashes[2]] || person_hashes[3:]",
        "persons = 99",
        "persons = NULL",
        "entity = 'mail'",
        "entity = 'Person'",
        "entity = NULL",
        "entity_type = 'VARCHAR'",
        "release = 'march'",
        "release = NULL",
        "released_at = released_at - INTERVAL 1 MICROSECOND",
        "manifest = '{} '",
        "rows_sha256 = 'x'",
        "digest = NULL",
        "digest = ''",
        "digest = 'ü'",
        "digest = upper(digest)",
        "digest = (SELECT digest FROM anon_ledger WHERE release = 'april')",
        "persons = 0, person_hashes = []",
    ],
)
def test_an_entry_with_any_field_changed_is_refused(months, function, change):
    months.execute(f"UPDATE anon_ledger SET {change} WHERE release = 'may'")
    assert fails(months, call(function)).startswith(
        f"{function}: {CHANGED}; restore an unchanged copy"
    )


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_made_up_entry_is_refused(months, function):
    months.execute("INSERT INTO anon_ledger BY NAME SELECT key_check FROM anon_ledger LIMIT 1")
    assert fails(months, call(function)).startswith(f"{function}: {CHANGED}")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_hashes_of_an_entry_with_another_key_are_refused_under_this_key(months, function):
    enter(months, "april", "others", key="another secret key")
    months.execute(
        "UPDATE anon_ledger SET key_check = (SELECT key_check FROM anon_ledger "
        "WHERE release = 'may') WHERE release = 'others'"
    )
    assert fails(months, call(function)).startswith(f"{function}: {CHANGED}")


def test_an_entry_that_pretends_another_key_hides_nobody_from_ledger_new(months):
    months.execute("UPDATE anon_ledger SET key_check = NULL WHERE release = 'may'")
    assert fails(months, call("ledger_new")).startswith("ledger_new: key must be the one")
    shared = months.execute(f"SELECT shared {call('ledger_overlap')} ORDER BY ALL").fetchall()
    assert shared == [(100,), (None,)]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_another_column_of_persons_is_refused(months, function):
    assert fails(months, call(function, entity="mail")) == (
        f"{function}: entity must be the column whose persons the ledger holds, got 'mail'; "
        "it is person: rename yours if it holds the same persons"
    )
    enter(months, "april", "by mail", entity="mail")
    assert "whose persons the ledger holds, got 'person'" in fails(months, call(function))


def test_a_column_in_other_case_and_of_another_type_is_the_same(months):
    months.execute('CREATE TABLE july AS SELECT person::DECIMAL(9, 2) AS "PERSON" FROM june')
    assert months.execute(call("ledger_new", "july")).fetchall() == []
    shared = f"SELECT shared {call('ledger_overlap', 'july', 'Person')}"
    assert months.execute(shared).fetchall() == [(100,), (100,)]


@pytest.mark.parametrize(
    "change",
    [
        "CREATE TABLE moved AS FROM anon_ledger ORDER BY released_at DESC",
        "CREATE TABLE moved AS SELECT 'kept' AS note, * FROM anon_ledger",
        "CREATE TABLE moved AS FROM anon_ledger UNION ALL FROM anon_ledger",
        "COPY anon_ledger TO 'moved.parquet'; CREATE VIEW moved AS FROM 'moved.parquet'",
    ],
)
def test_entries_may_be_moved_and_repeated(months, change, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    months.execute(change)
    assert months.execute(call("ledger_new", ledger="moved")).fetchall() == []
    counts = months.execute(f"SELECT DISTINCT shared {call('ledger_overlap', ledger='moved')}")
    assert counts.fetchall() == [(100,)]


def test_a_ledger_of_a_former_version_is_refused_in_one_sentence(months):
    months.execute("ALTER TABLE anon_ledger DROP COLUMN digest")
    months.execute("ALTER TABLE anon_ledger DROP COLUMN entity_type")
    said = (
        "ledger must be a ledger, got one of a former version, whose entries could be changed "
        "unnoticed; make a new ledger and enter the releases again"
    )
    for function in FUNCTIONS:
        assert fails(months, call(function)) == f"{function}: {said}"
    with pytest.raises(AnonError, match="ledger: ledger must be a ledger, got one of a former"):
        anon_sql.ledger(months)


def test_an_entry_is_seen_by_another_connection_after_its_commit(months, tmp_path):
    months.execute("CREATE TABLE july AS SELECT 1000 + i AS person FROM range(9) t(i)")
    other = months.cursor()
    months.execute("BEGIN")
    enter(months, "july", "july")
    assert len(other.execute(call("ledger_new", "july")).fetchall()) == 9
    months.execute("COMMIT")
    assert other.execute(call("ledger_new", "july")).fetchall() == []
    other.close()
