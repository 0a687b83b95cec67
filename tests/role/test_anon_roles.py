"""anon_roles: what is declared, what a call would make of it, and how telling a column is."""

import pytest

from tests.sentence import fails

pytestmark = pytest.mark.quick


def test_declared_roles_with_counts(people):
    assert people.execute("FROM anon_roles('people')").fetchall() == [
        ("person_id", "BIGINT", "identifier", "comment", 120, 0),
        ("age", "BIGINT", "quasi", "comment", 60, 8),
        ("city", "VARCHAR", "quasi", "comment", 2, 6),
        ("sex", "VARCHAR", "quasi", "comment", 2, 0),
        ("born", "DATE", "quasi", "comment", 120, 0),
        ("score", "DOUBLE", "keep", "comment", 100, 0),
        ("illness", "VARCHAR", "sensitive", "comment", 3, 0),
    ]


def test_what_a_call_makes_of_them(people):
    query = "SELECT column_name, role, source FROM anon_roles('people', {})"
    given = "quasi := ['Age'], keep := ['city', 'sex', 'born']"
    assert people.execute(query.format(given)).fetchall()[:3] == [
        ("person_id", "identifier", "comment"),
        ("age", "quasi", "call"),
        ("city", "keep", "call"),
    ]
    assert fails(people, query.format("keep := ['person_id']")).startswith(
        "anon_roles: a declared identifier must not be released, got person_id in keep"
    )


@pytest.mark.parametrize("relation", ["SELECT 1 AS a, 2 AS b", "SELECT 1 AS a, 2 AS b LIMIT 0"])
def test_a_table_without_roles(con, relation):
    con.execute(f"CREATE TABLE t AS {relation}")
    rows = con.execute("SELECT column_name, role, source FROM anon_roles('t')").fetchall()
    assert rows == [("a", None, None), ("b", None, None)]
