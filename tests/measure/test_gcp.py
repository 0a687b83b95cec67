"""gcp: by hand, against the plain twin, and on every type that a quasi-identifier can have."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_sql.core.labels.grammar import of_set
from tests.drawing import examples
from tests.measure import twin
from tests.sentence import fails

AGE = 2 * (5 / 40 + 10 / 40 + 0 + 1 + 1) + 1


@pytest.mark.oldest
def test_by_hand(measured):
    assert measured("gcp") == pytest.approx((AGE + 2 * (2 / 4 + 0 + 2 / 4 + 0 + 1) + 1) / 22)


def test_dops_form_by_hand(measured):
    city = 2 * (1 / 3 + 0 + 1 / 3 + 0 + 1) + 1
    assert measured("gcp(ncp := 'dop')") == pytest.approx((AGE + city) / 22)


@pytest.mark.parametrize("weights", [{"age": 3}, {"AGE": 0.5, "city": 4}, {"city": 0}, {"age": 7}])
def test_weights_of_columns(hand, weights):
    """The mean NCP of the columns, each by its weight; 1 for those that are left out."""
    quasi = ["age", "city"]
    loss = "SELECT attribute, ncp FROM attribute_loss('raw', 'label', quasi := $quasi)"
    ncp = dict(hand.execute(loss, {"quasi": quasi}).fetchall())
    given = {"age": 1, "city": 1} | {name.lower(): weight for name, weight in weights.items()}
    mean = sum(given[name] * ncp[name] for name in quasi) / sum(given.values())
    query = "SELECT gcp('raw', 'label', quasi := $quasi, weights := $weights)"
    ((found,),) = hand.execute(query, {"quasi": quasi, "weights": weights}).fetchall()
    assert found == pytest.approx(mean)
    query = "SELECT gcp FROM utility('raw', 'label', quasi := $quasi, weights := $weights)"
    assert hand.execute(query, {"quasi": quasi, "weights": weights}).fetchall() == [(found,)]


def test_weights_that_are_refused(hand):
    said = "gcp: weights must name quasi-identifiers, got 'agee'; did you mean age? (age)"
    assert said in fails(
        hand, "SELECT gcp('raw', 'label', quasi := ['age'], weights := MAP {'agee': 2})"
    )


def test_an_unknown_form(hand):
    said = "gcp: ncp must be one of 'share', 'dop', got 'shares'; did you mean share? (share, dop)"
    assert fails(hand, "SELECT gcp('raw', 'label', ncp := 'shares', quasi := ['age'])") == said


@pytest.mark.parametrize(
    "column", ["5", "'x'", "NULL::INTEGER", "NULL::VARCHAR", "DATE '2020-01-01'"]
)
def test_a_constant_column_loses_nothing(con, column):
    con.execute(f"CREATE TABLE one AS SELECT {column} AS a FROM range(4)")
    con.execute("CREATE TABLE same AS SELECT a::VARCHAR AS a FROM one")
    for form in ("share", "dop"):
        query = f"SELECT gcp('one', 'same', ncp := '{form}', quasi := ['a'])"
        assert con.execute(query).fetchall() == [(0,)]


def test_empty_tables(hand):
    hand.execute("CREATE TABLE none AS FROM label LIMIT 0; CREATE TABLE empty AS FROM raw LIMIT 0")
    rates = hand.execute(
        "SELECT gcp('raw', 'none', quasi := ['age']), gcp('empty', 'none', quasi := ['age'])"
    )
    assert rates.fetchall() == [(1, None)]


TYPES = [
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "UBIGINT", "UHUGEINT"),
    *("DECIMAL(9, 2)", "DECIMAL(38, 10)", "FLOAT", "DOUBLE"),
]
TIMES = ["TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMPTZ"]


@pytest.mark.oldest
@pytest.mark.parametrize("shape", ["label", "typed"])
@pytest.mark.parametrize(
    ("sql_type", "made"),
    [
        *((name, "i * 10") for name in TYPES),
        *((name, "TIMESTAMP '2020-02-28 12:00:00' + INTERVAL (i * 10) HOUR") for name in TIMES),
        ("DATE", "DATE '2020-02-25' + (i * 10)::INTEGER"),
        ("TIME", "TIME '01:00:00' + INTERVAL (i * 10) MINUTE"),
    ],
)
def test_every_numeric_type(con, sql_type, made, shape):
    """0, 10, 20, 60, 80, 100 in some unit, two a class: (10 + 40 + 20) / 100 / 3."""
    con.execute("SET TimeZone = 'Africa/Cairo'")
    con.execute(
        f"CREATE TABLE t AS SELECT i // 3 AS c, ({made})::{sql_type} AS v FROM "
        "(SELECT unnest([0, 1, 2, 6, 8, 10]) AS i)"
    )
    con.execute("UPDATE t SET c = (SELECT count(*) FROM t AS u WHERE u.v < t.v) // 2")
    con.execute(
        "CREATE TABLE typed AS SELECT {'min': min(v) OVER (PARTITION BY c), "
        "'max': max(v) OVER (PARTITION BY c)} AS v FROM t"
    )
    con.execute("CREATE TABLE label AS SELECT '[' || v.min || ', ' || v.max || ']' AS v FROM typed")
    found = con.execute(f"SELECT gcp('t', '{shape}', quasi := ['v'])").fetchall()[0][0]
    assert found == pytest.approx(70 / 100 / 3, abs=1e-7)


def test_numbers_at_the_end_of_their_type(con):
    con.execute("CREATE TABLE t AS SELECT unnest([-1.7e308, 1.7e308, 0])::DOUBLE AS v")
    con.execute(
        "CREATE TABLE r AS SELECT unnest(['[-1.7e308, 1.7e308]', '[0.0, 1.7e308]', '0']) AS v"
    )
    assert con.execute("SELECT gcp('t', 'r', quasi := ['v'])").fetchall() == [(0.5,)]


@pytest.mark.oldest
@pytest.mark.parametrize("sql_type", ["BOOLEAN", "ENUM('true', 'false')", "UUID", "VARCHAR"])
def test_every_text_type(con, sql_type):
    made = "md5(i::VARCHAR)::UUID" if sql_type == "UUID" else f"(i = 1)::VARCHAR::{sql_type}"
    con.execute(f"CREATE TABLE t AS SELECT {made} AS v FROM range(2) AS r(i)")
    con.execute(
        "CREATE TABLE r AS SELECT '{' || string_agg(v::VARCHAR, ', ') || '}' AS v FROM t, range(2)"
        " GROUP BY range"
    )
    con.execute("CREATE TABLE s AS SELECT list(v::VARCHAR) AS v FROM t, range(2) GROUP BY range")
    for release in ("r", "s"):
        assert con.execute(f"SELECT gcp('t', '{release}', quasi := ['v'])").fetchall() == [(1,)]


@pytest.mark.parametrize("shape", ["label", "typed"])
@pytest.mark.parametrize("k", [1, 5, 40])
def test_against_the_twin(people, shape, k):
    people.execute(f"CREATE TABLE r AS FROM rayden('people', k := {k}, format := '{shape}')")
    people.execute("DELETE FROM r WHERE rowid % 41 = 7")
    people.execute(
        f"UPDATE r SET (age, city, sex, born) = "
        f"({', '.join(4 * ['NULL' if shape == 'typed' else repr('*')])}) WHERE rowid % 29 = 3"
    )
    raw = people.execute("SELECT age, city, sex, born FROM people").fetchall()
    released = people.execute("SELECT age, city, sex, born FROM r").fetchall()
    for form in ("share", "dop"):
        expected = twin.measures(raw, released, typed=shape == "typed", form=form)["gcp"]
        found = people.execute(f"SELECT gcp('people', 'r', ncp := '{form}')").fetchall()[0][0]
        assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.slow
def test_adult_against_the_twin(adult):
    adult.execute("CREATE TABLE r AS FROM rayden('adult', k := 25)")
    names = "age, workclass, education_num, marital_status, occupation, race, sex, native_country"
    raw, released = (
        adult.execute(f"SELECT {names} FROM {name}").fetchall() for name in ("adult", "r")
    )
    expected = twin.measures(raw, released)["gcp"]
    assert adult.execute("SELECT gcp('adult', 'r')").fetchall()[0][0] == pytest.approx(expected)


TEXT = st.text(alphabet="ab *{}[],'\"\\\n\x01ßİ∅NUL", max_size=4)
ROW = st.tuples(st.integers(0, 3), st.none() | st.integers(-9, 9), st.none() | TEXT)


def label_of(values, whole):
    """A class's label and its loss, where the table's range or distinct values are ``whole``."""
    known = sorted({value for value in values if value is not None}, key=str)
    if not known:
        return None, 0
    if len(known) < len(set(values)):
        return "*", 1
    if isinstance(known[0], str):
        return of_set(sorted(known, key=str.encode)), 0 if len(known) == 1 else len(known) / whole
    low, high = min(known), max(known)
    return (str(low), 0) if low == high else (f"[{low}, {high}]", (high - low) / whole)


def test_any_classes_of_any_values(con):
    """From the classes themselves, not from their labels."""
    con.execute("CREATE TABLE t (n INTEGER, s VARCHAR); CREATE TABLE r (n VARCHAR, s VARCHAR)")

    @examples(150)
    @given(st.lists(ROW, min_size=1, max_size=12))
    def holds(rows):
        con.execute("DELETE FROM t; DELETE FROM r")
        numbers = [n for _, n, _ in rows if n is not None]
        width, every = max(numbers, default=0) - min(numbers, default=0), len({s for *_, s in rows})
        total = 0.0
        for place in {c for c, _, _ in rows}:
            members = [row for row in rows if row[0] == place]
            number, number_loss = label_of([n for _, n, _ in members], width)
            text, text_loss = label_of([s for _, _, s in members], every)
            total += len(members) * (number_loss + text_loss)
            for _, n, s in members:
                con.execute("INSERT INTO t VALUES (?, ?)", [n, s])
                con.execute("INSERT INTO r VALUES (?, ?)", [number, text])
        found = con.execute("SELECT gcp('t', 'r', quasi := ['n', 's'])").fetchall()[0][0]
        assert found == pytest.approx(total / (2 * len(rows)))

    holds()
