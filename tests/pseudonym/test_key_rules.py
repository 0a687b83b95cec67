"""Only env:NAME and secret:NAME are references; a misspelt one, and what is no key, is refused."""

import secrets

import duckdb
import pytest

import anon_sql
from tests.command import refused
from tests.ledger.released import enter

KEY = "0123456789 a secret key"
NAME = "hidden_key_of_2024"
MISSPELT = [
    *(f"{word}={NAME}" for word in ("env", "ENV", "environment", "enviroment", "secret")),
    *(f"{word}.{NAME}" for word in ("env", "secret", "process.env", "os.environ")),
    *(f"{word}:{NAME}" for word in ("ENV", "Env", "environment", " env", "env ", "Secret", "$env")),
    *(f"env{sign}{NAME}" for sign in ("-", "_", "/", " ", "\t", ";", "->", "\uff1a", "\u200b:")),
    *(f"${NAME}", f"${{{NAME}}}", f"$({NAME})", f"%{NAME}%", f"!{NAME}!", f"{{{{ {NAME} }}}}"),
    *(f"<{NAME}>", f"getenv('{NAME}')", f'os.environ["{NAME}"]', f"{{{{ env_var('{NAME}') }}}}"),
    *("HIDDEN_KEY_OF_2024", "evn:HIDDEN_KEY_OF_2024", "HIDDEN_KEY_OF_2024=HIDDEN_KEY_OF_2023"),
    f"getvariable('{NAME}')",
]
NO_KEYS = {
    "blanks": " " * 16,
    "blanks of many kinds": "\t \r\n\u00a0\u3000" * 4,
    "invisible characters": "\u200b\u200c\u2060" * 6,
    "NULs": "\0" * 16,
    "one letter": "x" * 40,
    "one letter that is not ASCII": "ä" * 16,
    "two letters": "xX" * 16,
    "one letter among blanks": "x" + " " * 20,
    "a word that blanks fill up": "hidden" + " " * 20,
    "a word that NULs fill up": "hidden" + "\0" * 20,
}
CALLS = {
    "anon_pseudonym": "SELECT anon_pseudonym('a', $key)",
    "anon_shift": "SELECT anon_shift(DATE '2024-01-01', 'a', $key)",
    "ledger_entry": "FROM ledger_entry('may', 'may_release', 'May', entity := 'person', "
    "manifest := '{}', key := $key)",
    "ledger_new": "FROM ledger_new('may', 'anon_ledger', entity := 'person', key := $key)",
    "ledger_overlap": "FROM ledger_overlap('may', 'anon_ledger', entity := 'person', key := $key)",
}


@pytest.fixture
def may(con):
    con.execute("CREATE TABLE may AS SELECT 'p' || i AS person, i AS age FROM range(9) AS r(i)")
    con.execute("CREATE TABLE may_release AS SELECT '*' AS age FROM range(9)")
    anon_sql.ledger(con, "anon_ledger")
    return con


def said(con, sql, key):
    """Return the error of a call, which shows nothing of the key or of the name in it."""
    with pytest.raises(duckdb.Error) as caught:
        con.execute(sql, {"key": key}).fetchall()
    assert "hidden" not in str(caught.value).lower()
    assert "2024" not in str(caught.value)
    return str(caught.value).partition("AnonError: ")[2]


@pytest.mark.parametrize("key", MISSPELT)
def test_what_looks_like_a_misspelt_reference_is_no_key(may, key, monkeypatch):
    rule = "anon_pseudonym: key must be 'env:NAME' or 'secret:NAME', in these letters, or a secret"
    for held in (None, KEY):
        monkeypatch.setenv(NAME, held) if held else monkeypatch.delenv(NAME, raising=False)
        assert said(may, CALLS["anon_pseudonym"], key).startswith(rule)
        assert said(may, CALLS["anon_pseudonym"], key.encode()).startswith(rule)


@pytest.mark.parametrize("key", [NAME, NAME.upper(), f" {NAME} ", f"'{NAME}'", f"@{NAME}"])
def test_the_name_of_a_variable_of_the_environment_is_no_key(may, key, monkeypatch):
    monkeypatch.setenv(NAME, KEY)
    assert "the name of a variable" in said(may, CALLS["anon_pseudonym"], key)


@pytest.mark.parametrize("key", NO_KEYS.values(), ids=NO_KEYS)
def test_what_anybody_can_guess_is_no_key(may, key):
    for given in (key, key.encode()):
        assert said(may, CALLS["anon_pseudonym"], given).startswith(
            "anon_pseudonym: key must have at least"
        )


@pytest.mark.parametrize(("function", "sql"), CALLS.items(), ids=CALLS)
@pytest.mark.parametrize("key", [f"env={NAME}", f"${NAME}", f"ENV:{NAME}", " " * 16, "x" * 16])
def test_every_function_that_takes_a_key_refuses_these(may, function, sql, key):
    assert said(may, sql, key).startswith(f"{function}: key must ")


@pytest.mark.parametrize("value", [f"env:{NAME}", f"${{{NAME}}}", f"%{NAME}%", " " * 16, "x" * 16])
def test_a_variable_and_a_secret_that_hold_no_key_are_refused(may, value, monkeypatch):
    monkeypatch.setenv("ANON_KEY", value)
    assert "key must " in said(may, CALLS["anon_pseudonym"], "env:ANON_KEY")
    with anon_sql.connect(config={"allow_unredacted_secrets": "true"}) as con:
        con.execute(f"CREATE SECRET mine (TYPE http, BEARER_TOKEN '{value}')")
        assert "key must " in said(con, CALLS["anon_pseudonym"], "secret:mine")


def test_the_command_line_refuses_them_in_its_own_words(may, tmp_path, monkeypatch):
    monkeypatch.delenv("ANON_KEY", raising=False)
    may.execute(f"COPY may TO '{tmp_path}/may.csv'")
    asked = ["release", tmp_path / "may.csv", tmp_path / "safe.csv", "--quasi", "age", "--k", 3]
    asked += ["--entity", "person", "--identifier", "person", "--ledger", tmp_path / "l.duckdb"]
    for key in (f"env={NAME}", f"ENV:{NAME}", " " * 16, "x" * 16):
        told = refused(*asked, "--ledger-key", key)
        assert "--ledger-key must " in told
        assert "hidden" not in told
        assert not (tmp_path / "safe.csv").exists()


def test_random_keys_and_phrases_are_keys(may, monkeypatch):
    made = [secrets.token_hex(16), secrets.token_urlsafe(32), "9XzT5_uWw-kJ8aD3mQ0Yb1c="]
    phrases = ["correct horse battery staple", "secret key of the hospital", "environment is dear."]
    raw = [secrets.token_bytes(32), b"\xff" + secrets.token_bytes(15)]
    for key in (*made, *phrases, *raw):
        pseudonym = may.execute(CALLS["anon_pseudonym"], {"key": key}).fetchall()
        assert len(pseudonym[0][0]) == 64
    monkeypatch.setenv("ANON_KEY", "caf\udce9 0123456789 abc")  # bytes that are not UTF-8
    assert (
        may.execute(CALLS["anon_pseudonym"], {"key": "env:ANON_KEY"}).fetchall()
        == may.execute(CALLS["anon_pseudonym"], {"key": b"caf\xe9 0123456789 abc"}).fetchall()
    )


def test_a_ledger_takes_the_key_by_reference(may, monkeypatch):
    monkeypatch.setenv("ANON_KEY", KEY)
    enter(may, "may", "May", key="env:ANON_KEY")
    shared = may.execute(CALLS["ledger_overlap"], {"key": KEY}).fetchall()
    assert len(shared) == 1
