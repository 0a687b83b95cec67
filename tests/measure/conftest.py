"""A hand-worked table and its release in both formats, with every kind of row there is.

=====  =====  ============  ==================  =========
 age    city   label age     label city          rows
=====  =====  ============  ==================  =========
20 25  a b    [20, 25]      {a, b}              2
30 40  c c    [30, 40]      c                   2
 NULL  a d    NULL          {a, d}              2
60 ∅   b b    *             b                   2
50 51  a c    *             *                   2
52     d      left out                          1
=====  =====  ============  ==================  =========

N = 11, the range of age is 40, and city has 4 values. Suppressed: 2 starred and 1 left out.
"""

import pytest

from tests.inserting import insert

RAW = "(20, 'a'), (25, 'b'), (30, 'c'), (40, 'c'), (NULL, 'a'), (NULL, 'd'), (60, 'b'), "
RAW += "(NULL, 'b'), (50, 'a'), (51, 'c'), (52, 'd')"
LABELS = [("[20, 25]", "{a, b}"), ("[30, 40]", "c"), (None, "{a, d}"), ("*", "b"), ("*", "*")]


@pytest.fixture
def hand(con):
    con.execute(f"CREATE TABLE raw AS FROM (VALUES {RAW}) AS made(age, city)")
    con.execute("CREATE TABLE label (city VARCHAR, age VARCHAR)")  # another order of columns
    con.execute("CREATE TABLE typed (city VARCHAR[], AGE STRUCT(min INTEGER, max INTEGER))")
    insert(con, "label", [(city, age) for age, city in 2 * LABELS])
    con.execute(
        """
        INSERT INTO typed
        SELECT
            CASE WHEN city <> '*' THEN anon_values(city) END,
            CASE
                WHEN age IS NULL THEN {'min': NULL, 'max': NULL}
                WHEN age <> '*' THEN {'min': anon_min(age)::INTEGER, 'max': anon_max(age)::INTEGER}
            END
        FROM label
        """
    )
    return con


@pytest.fixture(params=["label", "typed"])
def shape(request):
    """The name of the release: each format in turn."""
    return request.param


@pytest.fixture
def measured(hand, shape):
    """What a scalar function says of the release."""

    def ask(call):
        name, _, more = call.partition("(")
        more = more.rstrip(")")
        arguments = f"'raw', '{shape}', quasi := ['age', 'city']" + (f", {more}" if more else "")
        return hand.execute(f"SELECT {name}({arguments})").fetchall()[0][0]

    return ask
