"""Regions are legal as a whole, hold every row once, and give a legal release of the table."""

from collections import Counter, defaultdict
from math import inf, log

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_sql import AnonError
from anon_sql.core.names import quote
from tests.drawing import examples
from tests.regions.by_duckdb import Routed, asked, domain_of

QUASI = ["age", 'ci"ty.x', "SELECT", "born"]
CALL = {"quasi": QUASI, "sensitive": ["ill ness"], "identifiers": ["id"], "keep": ["score"]}


def made(con, rows, seed, *, age="i * 7919 % 60", city="i * i % 9", ill="i * 13 % 4"):
    """Create the table ``big``; the expressions are those of columns of row number i."""
    con.execute(
        f"""CREATE OR REPLACE TABLE big AS SELECT
            if(i % 17 = 0, NULL, {age}) AS age,
            if(i % 23 = 0, NULL, 'it''s ' || ({city})) AS {quote('ci"ty.x')},
            (i % 5 = {seed % 5}) AS "SELECT",
            DATE '1990-01-01' + (i * 104729 % 9000)::INTEGER AS born,
            {ill} AS "ill ness", i % 9 / 4.0 AS score, i AS id, i // 3 AS person
        FROM range({rows}) r(i)"""
    )


def labelled(releases):
    """Return the sensitive values of each class of labels of the releases together."""
    classes = defaultdict(list)
    for row in pa.concat_tables(releases).to_pylist():
        classes[tuple(row[name] for name in QUASI)].append(row["ill ness"])
    return classes


COLUMNS = st.sampled_from(
    ["i * 7919 % 60", "1", "NULL::INTEGER", "i", "least(i, 3)", "if(i % 20 = 0, i, 0)", "-i"]
)


@given(
    rows=st.integers(20, 200),
    k=st.integers(1, 12),
    l=st.integers(1, 4),
    t=st.sampled_from([1.0, 1.0, 0.5, 0.2]),
    bounds=st.sampled_from(
        [
            {},
            {},
            {"beta": 0.5},
            {"delta": 1.0},
            {"beta": 2, "delta": 2},
            {"max_share": 0.4},
            {"max_share": 0.8},
            {"beta": 1.5, "beta_kind": "basic"},
        ]
    ),
    age=COLUMNS,
    city=COLUMNS,
    ill=st.sampled_from(["i * 13 % 4", "i // 50", "age_of", "i", "if(i % 30 = 0, NULL, 1)"]),
    wanted=st.sampled_from([20, 50]),
)
@examples(30)
def test_regions_give_a_legal_release_or_one_sentence(
    rows,
    k,
    l,  # noqa: E741
    t,
    bounds,
    age,
    city,
    ill,
    wanted,
):
    import anon_sql

    con = test_regions_give_a_legal_release_or_one_sentence.con
    con = con or anon_sql.connect()
    test_regions_give_a_legal_release_or_one_sentence.con = con
    made(con, rows, k, age=age, city=city, ill=ill.replace("age_of", age))
    given_roles = {**CALL, "identifiers": ["id", "person"]}
    call = asked(con, "big", k=k, l=l, t=t, **bounds, **given_roles)
    routed, error = None, ""
    try:
        routed = Routed(con, "big", call, wanted, most=4 * wanted)
    except AnonError as refused:
        error = str(refused)
    if routed is None:
        assert "\n" not in error
        if "part must" not in error:  # then one statement refuses the table too
            with pytest.raises(Exception, match=r"k must|l must|max_share must"):
                con.execute(
                    f"FROM mondrian('big', k := {k}, l := {l}, t := {t}, quasi := {QUASI}, "
                    f"max_share := {bounds.get('max_share', 'NULL')}, "
                    "identifiers := ['id', 'person'], keep := ['*'], sensitive := 'ill ness')"
                ).fetchall()
        return
    parts = routed.parts()
    assert sum(part.num_rows for part in parts.values()) == rows
    assert [part.num_rows for part in parts.values()] == [r for r in routed.regions.rows if r]
    classes = labelled(routed.releases())
    held = Counter(value for values in classes.values() for value in values)
    assert sum(held.values()) == rows
    limits = routed_limits(con, call, held)
    for values in classes.values():
        assert len(values) >= k
        assert len(set(values) - {None}) >= l or l == 1
        assert t == 1 or limits(values) <= t + 1e-9
        for value in held if bounds else ():
            before, share = held[value] / rows, values.count(value) / len(values)
            gain = min(bounds["beta"], -log(before)) if "beta" in bounds else inf
            if bounds.get("beta_kind") == "basic":
                gain = bounds["beta"]
            assert share <= bounds.get("max_share", 1) + 1e-9
            assert share / before - 1 <= gain + 1e-9
            assert "delta" not in bounds or abs(log(share / before)) < bounds["delta"]
    assert sorted(held.elements(), key=str) == sorted(
        (value for (value,) in con.execute('SELECT "ill ness" FROM big').fetchall()), key=str
    )


test_regions_give_a_legal_release_or_one_sentence.con = None


def routed_limits(con, call, held):
    """Return the distance of some sensitive values from the table's, computed plainly."""
    known = sorted(value for value in held if value is not None)
    ordered = None not in held
    total = sum(held.values())

    def distance(values):
        own = Counter(values)
        gaps = [
            own[v] / len(values) - held[v] / total for v in (*known, *([] if ordered else [None]))
        ]
        if not ordered:
            return sum(map(abs, gaps)) / 2
        return sum(abs(sum(gaps[: at + 1])) for at in range(len(gaps))) / max(len(gaps) - 1, 1)

    return distance


def test_persons_are_counted_in_every_region(con):
    made(con, 600, 1)
    call = asked(con, "big", k=7, l=2, entity="person", **CALL)
    routed = Routed(con, "big", call, 50)
    persons = {row[0] for row in con.execute("SELECT DISTINCT person FROM big").fetchall()}
    assert len(routed.regions.rows) > 3
    assert (
        set().union(*(part.column("person").to_pylist() for part in routed.parts().values()))
        == persons
    )
    for part in routed.parts().values():
        assert len(set(part.column("person").to_pylist())) >= 7
    assert sum(table.num_rows for table in routed.releases()) == 600


def test_the_plan_depends_on_the_values_and_the_seed_alone(con):
    made(con, 3000, 1)
    call = asked(con, "big", k=5, seed=1, **{**CALL, "identifiers": ["id", "person"]})
    first = Routed(con, "big", call, 200, sample=1000)
    con.execute("CREATE OR REPLACE TABLE big AS FROM big ORDER BY hash(id)")
    again = Routed(con, "big", call, 200, sample=1000)
    assert again.tree == first.tree
    assert again.regions == first.regions
    other = asked(con, "big", k=5, seed=2, **{**CALL, "identifiers": ["id", "person"]})
    assert Routed(con, "big", other, 200, sample=1000).tree != first.tree


def test_rows_alike_are_dealt_and_rows_of_a_person_are_refused_if_they_are_too_many(con):
    con.execute("CREATE TABLE big AS SELECT 1 AS a, i AS s FROM range(1000) r(i)")
    call = asked(con, "big", k=5, quasi=["a"], keep=["s"])
    routed = Routed(con, "big", call, 100)
    assert max(routed.regions.rows) <= 200
    assert sum(routed.regions.rows) == 1000
    con.execute("CREATE OR REPLACE TABLE big AS SELECT 1 AS a, 2 AS s FROM range(1000) r(i)")
    assert max(Routed(con, "big", call, 100).regions.rows) <= 200
    con.execute(
        "CREATE OR REPLACE TABLE big AS "
        "SELECT 1 AS a, i AS s, if(i < 900, 1, i) AS person FROM range(1000) r(i)"
    )
    call = asked(con, "big", k=5, quasi=["a"], keep=["s"], entity="person")
    with pytest.raises(AnonError, match="a part must have at most 200 rows, got one of 9"):
        Routed(con, "big", call, 100)


@pytest.mark.parametrize("wanted", [100, 400])
def test_parts_of_rows_alike_are_as_large_as_allowed(con, wanted):
    made(con, 20_000, 1, age="1", city="1")
    con.execute('ALTER TABLE big DROP born; ALTER TABLE big DROP "SELECT"')
    ids = {**CALL, "quasi": QUASI[:2], "identifiers": ["person"], "keep": ["score", "id"]}
    routed = Routed(con, "big", asked(con, "big", k=3, **ids), wanted, most=wanted)
    assert max(routed.regions.rows) <= wanted
    assert sum(routed.regions.rows) == 20_000


def test_a_sensitive_value_that_follows_the_cuts_needs_larger_regions(con):
    """With a share of 1/4 in the table and 0 or 1 in regions by age, t merges far regions."""
    made(con, 2000, 1, ill="(i * 7919 % 60 < 15)::INTEGER")
    ids = {**CALL, "identifiers": ["id", "person"]}
    free = Routed(con, "big", asked(con, "big", k=5, **ids), 100)
    close = Routed(con, "big", asked(con, "big", k=5, t=0.1, **ids), 100, most=2000)
    assert max(close.regions.rows) >= max(free.regions.rows)
    ((whole,),) = con.execute('SELECT avg("ill ness") FROM big').fetchall()
    shares = [
        sum(part.column("ill ness").to_pylist()) / part.num_rows for part in close.parts().values()
    ]
    assert max(abs(share - whole) for share in shares) <= 0.1 + 1e-9


def test_the_domain_is_that_of_the_table(con):
    made(con, 500, 1)
    call = asked(con, "big", k=5, l=2, **{**CALL, "identifiers": ["id", "person"]})
    domain = domain_of(con, "big", call)
    assert domain.rows == 500
    assert domain.widths["age"] == 59
    assert domain.distinct == {'ci"ty.x': 5, "SELECT": 2}
    assert domain.sensitive["ill ness"].counts.tolist() == [125] * 4
