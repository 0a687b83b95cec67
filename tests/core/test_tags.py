"""Tags in column comments: what is one, what is an error, and what declare writes."""

import pytest

import anon_sql
from tests.sentence import fails

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        (
            "anon:secret",
            "the tag anon:secret is not one of anon:identifier, anon:quasi, anon:sensitive, anon:keep, anon:exclude",
        ),
        (
            "anon:",
            "the tag anon: is not one of anon:identifier, anon:quasi, anon:sensitive, anon:keep, anon:exclude",
        ),
        ("anon:quasi anon:keep", "the tags anon:keep and anon:quasi exclude each other"),
    ],
)
def test_an_unclear_tag_is_an_error(con, comment, said):
    con.execute("CREATE TABLE t AS SELECT i % 3 AS a FROM range(20) AS r(i)")
    con.execute(f"COMMENT ON COLUMN t.a IS '{comment}'")
    expected = f"rayden: the comment on column a is not clear, got {said}"
    assert fails(con, "FROM rayden('t', quasi := ['a'])") == expected


def test_declare_keeps_the_text_and_replaces_the_tag(con):
    con.execute('CREATE TABLE "my t" AS SELECT 1 AS "a""b", 2 AS c')
    con.execute('COMMENT ON COLUMN "my t"."a""b" IS \'Size, it\'\'s in cm. anon:keep\'')
    anon_sql.declare(con, '"my t"', quasi=['A"b'], sensitive="c")
    assert con.execute(
        "SELECT comment FROM duckdb_columns() WHERE table_name = 'my t' ORDER BY column_index"
    ).fetchall() == [("Size, it's in cm. anon:quasi",), ("anon:sensitive",)]


def test_declare_writes_nothing_when_a_name_is_wrong(con):
    con.execute("CREATE TABLE t (age INTEGER, sex VARCHAR)")
    with pytest.raises(anon_sql.AnonError, match="declare: quasi must name columns of the table"):
        anon_sql.declare(con, "t", keep=["sex"], quasi=["agee"])
    with pytest.raises(anon_sql.AnonError, match="a column has one role, got two for age"):
        anon_sql.declare(con, "t", keep=["age"], quasi=["age"])
    with pytest.raises(anon_sql.AnonError, match="the table must exist, got 'nope'"):
        anon_sql.declare(con, "nope", quasi=["age"])
    assert con.execute(
        "SELECT count(comment) FROM duckdb_columns() WHERE table_name = 't'"
    ).fetchall() == [(0,)]


@pytest.mark.parametrize(
    "comment",
    [
        *("ANON:IDENTIFIER", "Anon:quasi", "anon :identifier", "anon: quasi", "xanon:quasi"),
        *("anonymous:quasi", "anon:quasi-identifier", "anon:Quasi", "non-anon:keep", "anon::quasi"),
        *("anon\u00a0:quasi", "anon:identifier_", "a anon\n:keep", "anon:\nidentifier"),
        *(
            "anon\uff1aidentifier",
            "\uff41non:identifier",
            "anon\ufe55identifier",
            "anon\u2236quasi",
        ),
        *("an\u200bon:identifier", "anon\u200b:identifier", "a\u00adnon:quasi", "\u0430non:quasi"),
        *(
            "anon:keep\u200bidentifier",
            "anon:keep\u0301",
            "anon:keep/identifier",
            "anon:keep|quasi",
        ),
        *('"anon": "identifier"', "anon.:quasi", "anon-sql:quasi", "anon.role: quasi"),
    ],
)
def test_what_looks_like_a_tag_is_one_or_an_error(con, comment):
    con.execute("CREATE TABLE t AS SELECT i % 3 AS a, i % 4 AS b FROM range(100) AS r(i)")
    con.execute(f"COMMENT ON COLUMN t.b IS '{comment}'")
    said = fails(con, "FROM rayden('t', quasi := ['a'], keep := ['*'])")
    assert said.startswith("rayden: the comment on column b is not clear, got the tag ")
    assert "\n" not in said
    anon_sql.declare(con, "t", identifier=["b"])
    assert con.sql("FROM rayden('t', quasi := ['a'])").columns == ["a"]
