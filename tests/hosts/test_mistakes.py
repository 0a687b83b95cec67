"""What a front end adds to an error of DuckDB's that a call of the package is the reason for."""

import duckdb
import pytest

from anon_sql.hosts.duckdb.errors import error_text
from tests.command import refused

pytestmark = pytest.mark.oldest

KEEP = "keep := ['*']"


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        ("FROM rayden('people', quasi := [\"age\"])", "a name is a text in single quotes, 'age'"),
        ("FROM rayden(people, quasi := ['age'])", "a name is a text in single quotes, 'people'"),
        ("FROM rayden('people', entity := id)", "a name is a text in single quotes, 'id'"),
        (
            "FROM rayden('people', qids := ['age'])",
            "Macro rayden() does not support the supplied arguments; it has no parameter qids; "
            "did you mean quasi?",
        ),
        (
            "FROM rayden('people', QUASI := ['age'], sensitiv := 'x')",
            "it has no parameter sensitiv; did you mean sensitive?",
        ),
        ("FROM dm_star('people')", "write SELECT dm_star(…)"),
        ("SELECT dm_star('people')", "its parameters are raw, released"),
        ("SELECT rayden('people', k := 5)", "write FROM rayden(…)"),
        ("FROM gcp('people', 'release')", "write SELECT gcp(…)"),
        (
            "FROM rayden('people', k := 5, quasi = ['age'])",
            "write := after the name of a parameter",
        ),
        ("FROM rayden('people', k = 5)", "in a call write k :=, since = compares"),
        ("FROM rayden('people', keep := *)", "keep := ['*'] keeps every column without"),
        ("FROM rayden((FROM people))", "a call takes a name: WITH t AS"),
        (f"SELECT avg(age) FROM rayden('people', {KEEP})", "a label of a release is text"),
        (f"FROM rayden('people', {KEEP}) WHERE age > 30", "a label of a release is text"),
        (f"SELECT age.min FROM rayden('people', {KEEP})", "format := 'typed' makes ranges"),
    ],
)
def test_what_to_type_instead(people, call, meant):
    with pytest.raises(duckdb.Error) as caught:
        people.execute(call).fetchall()
    assert meant in error_text(caught.value, call)


def test_other_errors_have_no_hint(con):
    con.execute("CREATE TABLE t AS SELECT 1 AS a")
    for query in (
        "SELECT b FROM t",
        "SELECT abs(a) FROM t WHERE k = 5",
        "FROM nofunction('t')",
        "SELECT range_of(1)",
    ):
        with pytest.raises(duckdb.Error) as caught:
            con.sql(query)
        assert "; " not in error_text(caught.value, query)


def test_the_command_line_says_it():
    query = "FROM rayden('people', qids := ['age'])"
    assert refused("query", query).endswith("it has no parameter qids; did you mean quasi?")
