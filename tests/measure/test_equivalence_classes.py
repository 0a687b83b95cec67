"""equivalence_classes: labels, sizes, losses and how varied the sensitive values are."""

import pytest

from tests.sentence import fails

CALL = "equivalence_classes('raw', '{}', quasi := ['age', 'city']{})"


def test_by_hand(hand, shape):
    found = hand.sql(f"FROM {CALL.format(shape, '')}")
    names = ["city", "AGE"] if shape == "typed" else ["city", "age"]
    assert found.columns == [*names, "size", "ncp"]
    rows = {repr(row[:2]): row[2:] for row in found.fetchall()}
    expected = {
        "label": {
            ("{a, b}", "[20, 25]"): (2, (0.125 + 0.5) / 2),
            ("c", "[30, 40]"): (2, 0.25 / 2),
            ("{a, d}", None): (2, 0.5 / 2),
            ("b", "*"): (2, 1 / 2),
            ("*", "*"): (2, 1),
        },
        "typed": {
            (("a", "b"), (20, 25)): (2, (0.125 + 0.5) / 2),
            (("c",), (30, 40)): (2, 0.25 / 2),
            (("a", "d"), (None, None)): (2, 0.5 / 2),
            (("b",), None): (2, 1 / 2),
            (None, None): (2, 1),
        },
    }[shape]
    assert rows == {repr(unfrozen(labels)): values for labels, values in expected.items()}


def unfrozen(labels):
    """Tuples as the list and the struct that DuckDB gives."""
    city, age = labels
    if isinstance(city, tuple):
        city = list(city)
    return city, {"min": age[0], "max": age[1]} if isinstance(age, tuple) else age


def test_sizes_and_losses_add_up_to_gcp(people):
    people.execute("CREATE TABLE r AS FROM rayden('people', k := 5)")
    found = people.execute(
        "SELECT sum(size), sum(size * ncp) / sum(size), min(size), "
        "gcp('people', 'r'), k_anonymity('people', 'r') FROM equivalence_classes('people', 'r')"
    ).fetchall()[0]
    assert found == (120, pytest.approx(found[3]), found[4], found[3], found[4])


def test_sensitive_values(people):
    people.execute("UPDATE people SET illness = NULL WHERE age > 60")
    people.execute("COMMENT ON COLUMN people.score IS NULL")
    people.execute("CREATE TABLE r AS FROM rayden('people', k := 5, sensitive := 'score')")
    classes = people.sql("FROM equivalence_classes('people', 'r', sensitive := 'score')")
    assert classes.columns == [
        *("age", "city", "sex", "born", "size", "ncp"),
        *("distinct_score", "distinct_illness"),
    ]
    plain = people.execute(
        "SELECT age, city, sex, born, count(*), count(DISTINCT score), count(DISTINCT illness) "
        "FROM r GROUP BY ALL"
    ).fetchall()
    assert sorted(map(repr, plain)) == sorted(
        repr((*row[:5], *row[6:])) for row in classes.fetchall()
    )


def test_sensitive_as_a_list_and_a_name(hand):
    hand.execute('CREATE TABLE s AS SELECT *, city AS "a""b", age AS "size" FROM raw LIMIT 10')
    hand.execute('CREATE TABLE t AS FROM label POSITIONAL JOIN (SELECT "a""b", size FROM s)')
    start = "FROM equivalence_classes('s', 't', quasi := ['age'], sensitive := "
    assert hand.sql(start + "['A\"B', 'size'])").columns[3:] == ['distinct_a"b', "distinct_size"]
    assert hand.sql(start + "'size')").columns[3:] == ["distinct_size"]
    assert hand.sql(start + "[])").columns[3:] == []


@pytest.mark.parametrize(
    ("quasi", "sensitive", "said"),
    [
        ("['size']", "NULL", "no quasi-identifier may be called size, got Size; rename it in both"),
        ("['ncp']", "NULL", "no quasi-identifier may be called ncp, got ncp; rename it in both"),
        (
            "['distinct_x']",
            "'x'",
            "no quasi-identifier may be called distinct_x, got distinct_x; rename it in both",
        ),
        (
            "['x']",
            "'ncq'",
            "sensitive must name columns of the table, got 'ncq'; "
            "did you mean ncp? (Size, ncp, distinct_x, x, y)",
        ),
        (
            "['x']",
            "'y'",
            "the release must have every sensitive column, got no column called y; "
            "choose from Size, ncp, distinct_x, x",
        ),
        (
            "['x']",
            "'x'",
            "a column has one role, got x as quasi and as sensitive; leave it out of sensitive",
        ),
    ],
)
def test_names_that_clash(con, quasi, sensitive, said):
    columns = "'a' AS \"Size\", 'a' AS ncp, 'a' AS distinct_x, 'a' AS x"
    con.execute(f"CREATE TABLE t AS SELECT {columns}, 1 AS y; CREATE TABLE r AS SELECT {columns}")
    call = f"FROM equivalence_classes('t', 'r', quasi := {quasi}, sensitive := {sensitive})"
    assert fails(con, call) == f"equivalence_classes: {said}"


def test_an_error_shows_though_the_release_is_empty(hand):
    hand.execute("CREATE TABLE none AS FROM label LIMIT 0")
    assert (
        hand.execute("FROM equivalence_classes('raw', 'none', quasi := ['age'])").fetchall() == []
    )
    assert fails(hand, "FROM equivalence_classes('raw', 'none', quasi := ['aeg'])") == (
        "equivalence_classes: quasi must name columns of the table, got 'aeg'; "
        "did you mean age? (age, city)"
    )


def test_a_shadowed_sensitive_column(people):
    people.execute("CREATE TABLE r AS FROM rayden('people', k := 5)")
    query = (
        "WITH people AS (SELECT age, illness FROM main.people) "
        "FROM equivalence_classes('people', 'r', quasi := ['age'])"
    )
    assert fails(people, query) == (
        "equivalence_classes: comments count only where the relation is the committed table they "
        "were written on, got a relation of that name that differs from it; give the relation "
        "another name and pass sensitive := […]"
    )
