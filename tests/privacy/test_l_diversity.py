"""l_diversity: by hand, against a plain twin, and what it refuses."""

from collections import Counter, defaultdict
from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.drawing import examples
from tests.inserting import insert
from tests.sentence import fails

pytestmark = pytest.mark.quick


def diversity(con, released="label", sensitive="'s'", kind="distinct", raw="raw", **more):
    given = "".join(f", {name} := {value}" for name, value in {"quasi": ["a"], **more}.items())
    query = f"SELECT l_diversity('{raw}', '{released}', {sensitive}, kind := '{kind}'{given})"
    return con.execute(query).fetchall()[0][0]


def least(classes, kind, c):
    """The smallest l of lists of values, from the definitions."""
    found = []
    for values in classes:
        counts = sorted(Counter(v for v in values if v is not None).values(), reverse=True)
        if kind == "distinct":
            found.append(len(counts))
        elif kind == "entropy":
            shares = [count / sum(counts) for count in counts]
            found.append(exp(-sum(p * log(p) for p in shares)) if counts else 0)
        else:
            ls = range(1, len(counts) + 1)
            found.append(max((n for n in ls if counts[0] < c * sum(counts[n - 1 :])), default=0))
    return min(found, default=None)


def test_distinct_by_hand(wards, shape):
    assert diversity(wards, shape) == 1  # the starred: flu, and NULL does not count
    assert diversity(wards, shape, "['n']") == 1
    wards.execute(f"DELETE FROM {shape} WHERE a IS NULL OR a::VARCHAR = '*'")
    assert diversity(wards, shape) == 2
    assert diversity(wards, shape, "['n']") == 2


def test_entropy_by_hand(wards, shape):
    assert diversity(wards, shape, kind="entropy") == 1
    wards.execute(f"DELETE FROM {shape} WHERE a IS NULL OR a::VARCHAR = '*'")
    first = exp(-(3 / 4) * log(3 / 4) - (1 / 4) * log(1 / 4))
    assert diversity(wards, shape, kind="entropy") == pytest.approx(first)  # the other has 2
    assert diversity(wards, shape, "'n'", "entropy") == pytest.approx(3 / 2 ** (2 / 3))


def test_recursive_by_hand(con):
    """Counts 4, 2, 1: 4 < c * 7, c * 3, c * 1."""
    con.execute("CREATE TABLE raw AS SELECT 1 AS a, unnest(['x','x','x','x','y','y','z']) AS s")
    con.execute("CREATE TABLE label AS SELECT '1' AS a, s FROM raw")
    found = {c: diversity(con, kind="recursive", c=c) for c in (0.5, 1, 1.3, 1.4, 3, 4, 4.1)}
    assert found == {0.5: 0, 1: 1, 1.3: 1, 1.4: 2, 3: 2, 4: 2, 4.1: 3}


def test_several_columns_and_the_worst(wards):
    wards.execute("DELETE FROM label WHERE a = '*'")
    assert diversity(wards, sensitive="['s', 'n', 'w']") == 2
    wards.execute("UPDATE label SET n = 7 WHERE a = '[4, 6]'")
    assert diversity(wards, sensitive="['s', 'n', 'w']") == 1
    assert diversity(wards, sensitive="['s', 'w']") == 2


@pytest.mark.parametrize("kind", ["distinct", "entropy", "recursive"])
def test_a_class_of_nulls_is_not_diverse(wards, kind):
    wards.execute("UPDATE label SET s = NULL WHERE a = '[4, 6]'")
    assert diversity(wards, kind=kind) == 0


def test_an_empty_release(wards):
    wards.execute("CREATE TABLE none AS FROM label LIMIT 0")
    assert diversity(wards, "none") is None


def test_declared_and_any_type(people):
    people.execute("CREATE TABLE r AS FROM rayden('people', k := 5)")
    expected = people.execute(
        "SELECT min(d) FROM (SELECT count(DISTINCT illness) AS d FROM r GROUP BY age, city, sex, born)"
    ).fetchall()
    assert people.execute("SELECT l_diversity('people', 'r')").fetchall() == expected
    for made in (
        "[illness]",
        "{'x': illness}",
        "illness::BLOB",
        "illness::ENUM('flu', 'asthma', 'none')",
    ):
        for table in ("people", "r"):
            people.execute(
                f"CREATE OR REPLACE TEMP TABLE {table}_2 AS SELECT *, {made} AS x FROM {table}"
            )
        found = people.execute(
            "SELECT l_diversity('people_2', 'r_2', 'x', quasi := ['age', 'city', 'sex', 'born'])"
        )
        assert found.fetchall() == expected


def test_against_the_twin(con):
    con.execute("CREATE TABLE raw (a INTEGER, s VARCHAR, n INTEGER)")
    con.execute("CREATE TABLE label (a VARCHAR, s VARCHAR, n INTEGER)")
    row = st.tuples(
        st.integers(0, 3), st.none() | st.sampled_from("abcd"), st.none() | st.integers(0, 2)
    )
    kinds, cs = st.sampled_from(["distinct", "entropy", "recursive"]), st.sampled_from([0.5, 1, 3])

    @examples(25)
    @given(st.lists(row, min_size=1, max_size=14), kinds, cs)
    def holds(rows, kind, c):
        con.execute("DELETE FROM raw; DELETE FROM label")
        insert(con, "raw", rows)
        con.execute(
            "INSERT INTO label SELECT CASE a WHEN 3 THEN '*' ELSE a::VARCHAR END, s, n FROM raw"
        )
        classes = defaultdict(list)
        for a, s, n in rows:
            classes[a, "s"].append(s)
            classes[a, "n"].append(n)
        found = diversity(con, sensitive="['s', 'n']", kind=kind, c=c)
        assert found == pytest.approx(least(classes.values(), kind, c))

    holds()


CALL = "l_diversity('raw', 'label', {})"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            "quasi := ['a']",
            "at least one sensitive column is needed; pass sensitive := ['illness', …] or "
            "declare it: COMMENT ON COLUMN t.illness IS 'anon:sensitive'",
        ),
        (
            "'x', quasi := ['a']",
            "sensitive must name columns of the table, got 'x'; choose from a, s, n, w",
        ),
        (
            "'s', quasi := ['a'], kind := 'entropie'",
            "kind must be one of 'distinct', 'entropy', 'recursive', got 'entropie'; "
            "did you mean entropy? (distinct, entropy, recursive)",
        ),
        ("'s', quasi := ['a'], c := 0", "c must be a number above 0, got 0"),
        ("'s', quasi := ['a'], c := true", "c must be a number above 0, got a BOOLEAN"),
        (
            "'s', quasi := ['a', 's']",
            "a column has one role, got s as quasi and as sensitive; leave it out of sensitive",
        ),
    ],
)
def test_what_it_refuses(wards, arguments, said):
    assert fails(wards, f"SELECT {CALL.format(arguments)}") == f"l_diversity: {said}"


def test_a_release_that_lacks_a_sensitive_column(wards):
    wards.execute("CREATE TABLE less AS SELECT a, n FROM label")
    wards.execute("COMMENT ON COLUMN raw.s IS 'anon:sensitive'")
    for sensitive in ("'s'", "NULL"):
        assert fails(wards, f"SELECT l_diversity('raw', 'less', {sensitive}, quasi := ['a'])") == (
            "l_diversity: the release must have every sensitive column, got no column called s; "
            "choose from a, n"
        )


def test_swapped(wards, shape):
    said = fails(wards, f"SELECT l_diversity('{shape}', 'raw', 's', quasi := ['a'])")
    assert said.startswith(
        "l_diversity: the raw table must come first and its release second, got "
    )


@pytest.mark.parametrize("setting", ["integer_division = false", "integer_division = true"])
def test_names_and_settings_that_the_macros_could_meet(con, setting):
    """Columns called like parameters; division of whole numbers as other dialects have it."""
    names = ["kind", "c", "raw", "released", "sensitive", "threshold", "hierarchy", "name", "value"]
    columns = ", ".join(f'(i * {at + 1}) % 4 AS "{name}"' for at, name in enumerate(names))
    con.execute(f"SET {setting}")
    con.execute(f"CREATE TABLE raw AS SELECT i AS quasi, {columns} FROM range(8) AS r(i)")
    con.execute("CREATE TABLE released AS SELECT * REPLACE ('[0, 7]' AS quasi) FROM raw")
    given = f"'raw', 'released', {names}, quasi := ['quasi']"
    found = con.execute(f"SELECT l_diversity({given}), t_closeness({given})").fetchall()
    assert found == [(1, 0)]  # (i * 4) % 4 is one value
    assert con.execute(f"SELECT l_diversity({given}, kind := 'entropy')").fetchall() == [(1,)]


def test_recursive_that_would_require_nothing(people):
    """(c, 1)-diversity bounds the most frequent value if c is at most 1; l = 1 does not."""
    rule = "l must be at least 2 if l_kind is 'recursive' and c is at most 1"
    for function in ("anonymize", "rayden"):
        call = f"FROM {function}('people', k := 5, l_kind := 'recursive', c := {{}})"
        assert rule in fails(people, call.format(1))
        people.execute(call.format(1.5))
