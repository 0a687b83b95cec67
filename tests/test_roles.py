"""Roles in SQL: tags, parameters, precedence, and every error of the contract, word for word."""

import duckdb
import pytest

import anon_sql
from anon_sql.hosts.duckdb import binding
from anon_sql.hosts.duckdb.relation import Table
from tests.sentence import fails

pytestmark = [pytest.mark.quick, pytest.mark.oldest]


def columns(con, query):
    return con.sql(query).columns


def test_a_tag_may_stand_anywhere_in_a_comment(con):
    con.execute("CREATE TABLE t AS SELECT i % 3 AS a, i % 2 AS b FROM range(20) AS r(i)")
    con.execute("COMMENT ON COLUMN t.a IS 'Group (see anon:quasi here), from 1 to 3.'")
    assert con.sql("SELECT column_name, role, source FROM anon_roles('t')").fetchall() == [
        ("a", "quasi", "comment"),
        ("b", None, None),
    ]


def test_a_declared_identifier_is_never_released(people):
    assert "person_id" not in columns(people, "FROM rayden('people')")
    people.execute("CREATE VIEW v AS FROM people")
    assert (
        columns(people, "FROM rayden('v', quasi := ['age'], identifiers := ['person_id'])")[0]
        == "age"
    )
    assert fails(people, "FROM rayden('people', keep := ['person_id'])") == (
        "rayden: a declared identifier must not be released, got person_id in keep: its comment "
        "says anon:identifier; change the comment if it may leave"
    )


def test_identifiers_and_sensitive_add_to_what_is_declared(people):
    people.execute("COMMENT ON COLUMN people.score IS NULL")
    roles = dict(
        people.sql(
            "SELECT column_name, role FROM anon_roles('people', identifiers := ['score'], "
            "sensitive := ['ILLNESS'])"
        ).fetchall()
    )
    assert roles["person_id"] == roles["score"] == "identifier"
    assert roles["illness"] == "sensitive"
    released = columns(people, "FROM rayden('people', identifiers := ['score'])")
    assert released == ["age", "city", "sex", "born", "illness"]


def test_quasi_replaces_what_is_declared_and_the_rest_must_be_kept(people):
    assert fails(people, "FROM rayden('people', quasi := ['age', 'city', 'sex'])") == (
        "rayden: a declared quasi-identifier must be in quasi or in keep, got neither for born; "
        "add it to one of them, for example keep := ['born']"
    )
    kept = people.sql("FROM rayden('people', quasi := ['AGE', 'city', 'sex'], keep := ['Born'])")
    assert dict(zip(kept.columns, map(str, kept.types), strict=True)) == {
        "age": "VARCHAR",
        "city": "VARCHAR",
        "sex": "VARCHAR",
        "born": "DATE",
        "score": "DOUBLE",
        "illness": "VARCHAR",
    }


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            "quasi := ['agee']",
            "quasi must name columns of the table, got 'agee'; did you mean age? "
            "(person_id, age, city, sex, born, score, illness)",
        ),
        (
            "sensitive := ['xyzzy']",
            "sensitive must name columns of the table, got 'xyzzy'; choose from "
            "person_id, age, city, sex, born, score, illness",
        ),
        (
            "quasi := ['age', 'Age', 'city', 'sex', 'born']",
            "quasi must name each column once, got 'Age' twice",
        ),
        (
            "quasi := ['age', 'city', 'sex', 'born'], keep := ['born']",
            "a column has one role, got born as quasi and as keep; leave it out of keep",
        ),
        ("quasi := [1, 2]", "quasi must be a list of column names, got list"),
        (
            "quasi := [], keep := ['age', 'city', 'sex', 'born']",
            "at least one quasi-identifier is needed; pass quasi := ['age', …] "
            "or declare it: COMMENT ON COLUMN t.age IS 'anon:quasi'",
        ),
    ],
)
def test_parameters_that_do_not_fit(people, arguments, said):
    assert fails(people, f"FROM rayden('people', {arguments})") == f"rayden: {said}"


def test_sensitive_takes_a_name_or_a_list(people):
    query = "SELECT column_name FROM anon_roles('people', sensitive := {}) WHERE role = 'sensitive'"
    assert people.sql(query.format("'illness'")).fetchall() == [("illness",)]
    assert people.sql(query.format("['illness']")).fetchall() == [("illness",)]
    assert people.sql(query.format("[]")).fetchall() == [("illness",)]


SHADOWED = (
    "rayden: comments count only where the relation is the committed table they were written on, "
    "got a relation of that name that differs from it (a CTE, a temporary table, another schema "
    "or an uncommitted change); pass quasi := […] and identifiers := […], or give the relation "
    "another name"
)


def test_a_cte_that_shadows_a_table_with_roles(people):
    other = "WITH people AS (SELECT age, city FROM people) FROM rayden('people', k := 5{})"
    assert fails(people, other.format("")) == SHADOWED
    assert columns(people, other.format(", quasi := ['age']")) == ["age", "city"]
    identifier = "WITH people AS (SELECT age, person_id FROM people) FROM rayden('people'{})"
    assert fails(people, identifier.format(", quasi := ['age']")) == SHADOWED
    assert columns(
        people, identifier.format(", quasi := ['age'], identifiers := ['person_id']")
    ) == ["age"]
    same = "WITH people AS (SELECT * FROM people WHERE age > 30) FROM rayden('people')"
    assert "person_id" not in columns(people, same)


def test_a_temp_table_that_shadows_a_table_with_roles(people):
    people.execute("CREATE TEMP TABLE people AS SELECT * FROM people")
    assert fails(people, "FROM rayden('people')") == SHADOWED
    given = "FROM rayden('people', quasi := ['age'], identifiers := ['person_id'])"
    assert columns(people, given)[0] == "age"
    people.execute("COMMENT ON COLUMN temp.people.age IS 'anon:quasi'")
    assert fails(people, "FROM rayden('people')") == SHADOWED


def test_an_uncommitted_comment_does_not_count(people):
    people.execute("BEGIN")
    people.execute("COMMENT ON COLUMN people.score IS 'anon:identifier'")
    assert fails(people, "FROM rayden('people')") == SHADOWED
    people.execute("ROLLBACK")
    people.execute("COMMENT ON COLUMN people.score IS 'anon:identifier'")
    assert "score" not in columns(people, "FROM rayden('people')")


def test_a_table_of_the_same_name_in_another_schema(people):
    people.execute("CREATE SCHEMA other")
    people.execute("CREATE TABLE other.people AS SELECT age, illness FROM people")
    needs = "rayden: at least one quasi-identifier is needed; pass quasi := ['age', …]"
    assert fails(people, "FROM rayden('other.people')").startswith(needs)
    people.execute("COMMENT ON COLUMN other.people.age IS 'anon:quasi'")
    assert columns(people, "FROM rayden('other.people')") == ["age", "illness"]
    assert len(columns(people, "FROM rayden('memory.main.people')")) == 6
    assert len(columns(people, "FROM rayden('main.people')")) == 6


NAMESAKE = (
    "rayden: a name must mean one table, got another of that name with the same columns and "
    "other roles; write it in full, database.schema.table"
)


def test_a_view_read_from_elsewhere_does_not_lose_its_tables_roles(con, tmp_path):
    """DuckDB binds a view where it stands, but its macros see the reader's schema."""
    con.execute("CREATE SCHEMA s")
    con.execute(
        "CREATE TABLE s.people AS SELECT 'Name' || (i % 20) AS name, (i * 7) % 60 AS age, "
        "i % 3 AS city FROM range(40) t(i)"
    )
    con.execute("COMMENT ON COLUMN s.people.name IS 'anon:identifier'")
    con.execute("USE s")
    con.execute("CREATE VIEW s.v AS FROM rayden('people', k := 3, quasi := ['age', 'city'])")
    con.execute(
        "CREATE VIEW s.full AS FROM rayden('memory.s.people', k := 3, quasi := ['age', 'city'])"
    )
    assert columns(con, "FROM s.v") == ["age", "city"]
    con.execute("USE memory.main")
    assert fails(con, "FROM s.v") == NAMESAKE
    assert columns(con, "FROM s.full") == ["age", "city"]
    con.execute("CREATE TABLE people AS FROM s.people")  # untagged, the same columns
    assert fails(con, "FROM s.v") == NAMESAKE


def test_a_comment_that_changes_between_binding_and_running(people, monkeypatch):
    """What is given out was picked while binding; roles that changed since then stop it."""
    real, asked, hidden = binding.committed, [], [0]
    call = "FROM rayden('people', quasi := ['age', 'city', 'sex', 'born'])"
    wanted = people.execute(call).fetchall()

    def late(scope):
        asked.append(1)
        table = real(scope)
        if table is None or len(asked) > hidden[0]:
            return table
        return Table(table.names, table.types, tuple(None for _ in table.comments))

    monkeypatch.setattr(binding, "committed", late)
    refused = 0
    while len(asked) >= hidden[0]:  # until nothing is looked up any more after the change
        hidden[0] += 1
        asked.clear()
        try:
            found = people.execute(call)
        except duckdb.Error:
            refused += 1
            continue
        assert [column[0] for column in found.description] == [
            *("age", "city", "sex", "born", "score", "illness"),
        ]
        assert found.fetchall() == wanted
    assert refused > 0


def test_two_databases_with_the_same_table_and_other_roles(con):
    with anon_sql.connect() as other:
        for connection, quasi, identifier in ((con, "a", "b"), (other, "b", "a")):
            connection.execute(
                "CREATE TABLE t AS SELECT i % 3 AS a, i % 4 AS b FROM range(60) r(i)"
            )
            anon_sql.declare(connection, "t", quasi=[quasi], identifier=[identifier])
        assert columns(con, "FROM rayden('t')") == ["a"]
        assert columns(other, "FROM rayden('t')") == ["b"]


def test_no_value_of_the_data_stands_in_an_error(con):
    con.execute(
        "CREATE TABLE t AS SELECT 'secret' || i AS name, i % 3 AS a, {'x': 'secret' || i} AS s "
        "FROM range(50) r(i)"
    )
    for query in (
        "FROM rayden('t', quasi := ['a'])",
        "FROM rayden('t', quasi := ['a', 's'], identifiers := ['name'])",
        "FROM rayden('t', k := 51, quasi := ['a'], identifiers := ['name'], keep := ['s'])",
    ):
        assert "secret" not in fails(con, query)
