"""anon_pseudonym: HMAC-SHA-256 as published, and a key that nothing shows."""

import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sentence import fails

pytestmark = [pytest.mark.quick, pytest.mark.oldest]

KEY = "a secret key of the hospital"
VECTORS = [  # RFC 4231, but test case 2, whose key has 4 bytes; case 5 is of a truncated output
    (
        b"\x0b" * 20,
        b"Hi There",
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
    ),
    (
        b"\xaa" * 20,
        b"\xdd" * 50,
        "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
    ),
    (
        bytes(range(1, 26)),
        b"\xcd" * 50,
        "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
    ),
    (b"\x0c" * 20, b"Test With Truncation", "a3b6167473100ee06e0c796c2955552b"),
    (
        b"\xaa" * 131,
        b"Test Using Larger Than Block-Size Key - Hash Key First",
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
    ),
    (
        b"\xaa" * 131,
        b"This is a test using a larger than block-size key and a larger than block-size data. "
        b"The key needs to be hashed before being used by the HMAC algorithm.",
        "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
    ),
]


def expected(text, key=KEY):
    return hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest()


def pseudonym(con, sql, key=KEY, **more):
    call = f"SELECT anon_pseudonym({sql}, $key)"
    return con.execute(call, {"key": key, **more}).fetchall()[0][0]


@pytest.mark.parametrize(("key", "data", "wanted"), VECTORS)
def test_the_vectors_of_rfc_4231(con, key, data, wanted):
    call = "SELECT anon_pseudonym($data::BLOB, $key::BLOB)"
    ((found,),) = con.execute(call, {"data": data, "key": key}).fetchall()
    assert len(found) == 64
    assert found.startswith(wanted)


def test_a_shorter_key_of_rfc_4231_is_refused(con):
    said = fails(con, "SELECT anon_pseudonym('what do ya want for nothing?', 'Jefe')")
    assert said.startswith("anon_pseudonym: key must have at least 16 bytes, got fewer")


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text("äöü€é", min_size=4, max_size=66))
def test_any_text_and_key(database, text, more):
    key = "äöü€" + more
    assert pseudonym(database.take(), "$text", key, text=text) == expected(text, key)


@pytest.mark.parametrize(
    "text", ["", "Ada", "ÄÖ", "e\u0301", "\u00e9", "👩‍👩‍👧", "it''s", " ", "\\x41"]
)
def test_texts(con, text):
    assert pseudonym(con, f"'{text}'") == expected(text.replace("''", "'"))


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("5", "5"),
        ("5::HUGEINT", "5"),
        ("-7::TINYINT", "-7"),
        ("1.50::DECIMAL(5, 2)", "1.50"),
        ("true", "true"),
        ("DATE '2024-02-29'", "2024-02-29"),
        ("TIMESTAMP '2024-02-29 10:00:00'", "2024-02-29 10:00:00"),
        ("TIME '10:00:00'", "10:00:00"),
        ("'00000000-0000-0000-0000-00000000000A'::UUID", "00000000-0000-0000-0000-00000000000a"),
        ("'b'::ENUM ('a', 'b')", "b"),
        ("'b'::BLOB", "b"),
    ],
)
def test_values_are_hashed_as_their_text(con, sql, text):
    assert pseudonym(con, sql) == expected(text)


def test_every_byte_of_a_blob(con):
    data = bytes(range(256))
    found = con.execute("SELECT anon_pseudonym($d::BLOB, $k)", {"d": data, "k": KEY}).fetchall()
    assert found == [(hmac.new(KEY.encode(), data, hashlib.sha256).hexdigest(),)]


def test_null_is_null_and_tables_join(con):
    con.execute(
        f"""
        CREATE TABLE a AS SELECT if(i % 7 = 0, NULL, 'p' || i % 900) AS "who, ""x"" y" FROM range(5000) AS r(i);
        CREATE TABLE b AS SELECT anon_pseudonym("who, ""x"" y", '{KEY}') AS p, * FROM a;
        """
    )
    rows = con.execute("FROM b").fetchall()
    assert all(p == (None if who is None else expected(who)) for p, who in rows)
    assert (
        con.execute("SELECT count(DISTINCT p), count(*) - count(p) FROM b").fetchall()[0]
        == (
            con.execute(
                'SELECT count(DISTINCT "who, ""x"" y"), count(*) - count("who, ""x"" y") FROM a'
            ).fetchall()[0]
        )
    )


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("1.0::DOUBLE", "DOUBLE"),
        ("1.0::FLOAT", "FLOAT"),
        ("['a']", "VARCHAR[]"),
        ("{'a': 1}", "STRUCT(a INTEGER)"),
        ("TIMESTAMPTZ '2024-01-01 00:00:00+00'", "TIMESTAMP WITH TIME ZONE"),
        ("INTERVAL 1 DAY", "INTERVAL"),
    ],
)
def test_values_without_one_text_are_refused(con, sql, kind):
    said = fails(con, f"SELECT anon_pseudonym({sql}, '{KEY}')")
    assert said.startswith(
        "anon_pseudonym: value must be text, BLOB, UUID, BOOLEAN, a whole number"
    )
    assert said.split("got ")[1].startswith(f"{kind};".replace('"', ""))
