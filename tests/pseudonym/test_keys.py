"""Where a key comes from, and that neither plans nor errors show it."""

import duckdb
import pytest

import anon_sql
from tests.sentence import fails

pytestmark = [pytest.mark.quick, pytest.mark.oldest]

KEY = "0123456789 a secret key"
CALLS = [
    "anon_pseudonym(name, {})",
    "anon_shift(DATE '2024-01-01', name, {})",
]


@pytest.fixture
def named(con):
    con.execute("CREATE TABLE t AS SELECT 'n' || i AS name FROM range(9) AS r(i)")
    return con


def rows(con, call, key):
    return con.execute(f"SELECT {call.format(key)} FROM t").fetchall()


@pytest.mark.parametrize("call", CALLS)
def test_an_environment_variable(named, call, monkeypatch):
    monkeypatch.setenv("ANON_KEY", KEY)
    found = rows(named, call, "'env:ANON_KEY'")
    assert found == rows(named, call, f"'{KEY}'")
    assert found == rows(named, call, f"'{KEY}'::BLOB")
    monkeypatch.setenv("ANON_KEY", KEY + "!")
    assert found != rows(named, call, "'env:ANON_KEY'")


def test_a_variable_and_a_parameter(named):
    found = rows(named, CALLS[0], f"'{KEY}'")
    by_parameter = named.execute("SELECT anon_pseudonym(name, $k) FROM t", {"k": KEY})
    assert KEY not in by_parameter.description[0][0]
    assert by_parameter.fetchall() == found
    named.execute("SET VARIABLE k = $k", {"k": KEY})
    try:
        assert rows(named, CALLS[0], "getvariable('k')") == found
    finally:
        named.execute("RESET VARIABLE k")


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        ("NULL", "key must be text or BLOB of at least 16 bytes, got NULL; pass key := 'env:"),
        ("5", "key must be text or BLOB of at least 16 bytes, got another type"),
        ("''", "key must have at least 16 bytes, got fewer"),
        ("'hidden789012345'", "key must have at least 16 bytes, got fewer"),
        ("'env:HIDDEN_VARIABLE'", "the environment variable that key names must be set"),
        ("'env:'", "the environment variable that key names must be set"),
        ("'env:SHORT'", "key must have at least 16 bytes, got fewer"),
        ("'SECRET : hidden_and_long'", "key must be 'env:NAME' or 'secret:NAME', in these letters"),
        ("'secret:hidden'", "secrets can be read only from a database that allows it"),
        ("'hidden and long enough' || name", "key must be the same in every row, got several"),
    ],
)
def test_keys_that_are_refused_are_not_shown(named, call, key, sentence, monkeypatch):
    monkeypatch.setenv("SHORT", "hidden")
    with pytest.raises(duckdb.Error) as caught:
        rows(named, call, key)
    function = call.partition("(")[0]
    assert f"AnonError: {function}: {sentence}" in str(caught.value)
    assert "hidden" not in str(caught.value).lower()


def test_no_key(named):
    said = fails(named, "SELECT anon_pseudonym(name) FROM t")
    assert said.startswith(
        "anon_pseudonym: key must be text or BLOB of at least 16 bytes, got NULL"
    )
    assert "anon_shift: key must be" in fails(named, "SELECT anon_shift(DATE '2024-01-01', 'a')")


def test_no_plan_shows_a_key_that_is_refused(named):
    shown = named.execute("EXPLAIN SELECT anon_pseudonym(name, 'hidden') FROM t").fetchall()
    assert "got fewer" in str(shown)
    assert "hidden" not in str(shown)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("explain", ["EXPLAIN", "EXPLAIN ANALYZE"])
def test_no_plan_shows_a_key(named, call, explain):
    where = f"SELECT 1 FROM t WHERE {call.format('$k')}::VARCHAR <> 'x'"
    for sql in (f"SELECT {call.format('$k')} AS x FROM t", where):
        plans = [named.execute(f"{explain} {sql}", {"k": KEY}).fetchall()]
        if explain == "EXPLAIN":  # EXPLAIN ANALYZE of DuckDB 1.5 begins with the statement
            plans.append(named.execute(f"{explain} {sql.replace('$k', repr(KEY))}").fetchall())
        for plan in plans:
            assert "name" in str(plan)
            assert "secret" not in str(plan)


@pytest.mark.parametrize("setting", ["SET explain_output = 'all'", "PRAGMA disable_optimizer"])
def test_no_setting_shows_the_key_of_a_variable(named, setting, monkeypatch):
    monkeypatch.setenv("ANON_KEY", KEY)
    named.execute(setting)
    try:
        for call in CALLS:
            sql = f"SELECT {call.format(repr('env:ANON_KEY'))} FROM t"
            assert "secret" not in str(named.execute(f"EXPLAIN {sql}").fetchall())
            assert len(named.execute(sql).fetchall()) == 9
    finally:
        named.execute("RESET explain_output")
        named.execute("PRAGMA enable_optimizer")


def test_a_secret_of_a_database_that_shows_them():
    with anon_sql.connect(config={"allow_unredacted_secrets": "true"}) as con:
        con.execute(f"CREATE SECRET Mine (TYPE http, BEARER_TOKEN '{KEY}')")
        con.execute("CREATE SECRET proxied (TYPE http, HTTP_PROXY 'example.org')")
        ((one, other),) = con.execute(
            f"SELECT anon_pseudonym('a', 'secret:mine'), anon_pseudonym('a', '{KEY}')"
        ).fetchall()
        assert one == other
        assert "of that name" in fails(con, "SELECT anon_pseudonym('a', 'secret:none')")
        assert "BEARER_TOKEN" in fails(con, "SELECT anon_pseudonym('a', 'secret:proxied')")
        con.execute("CREATE OR REPLACE SECRET mine (TYPE http, BEARER_TOKEN 'short')")
        assert "got fewer" in fails(con, "SELECT anon_pseudonym('a', 'secret:mine')")
