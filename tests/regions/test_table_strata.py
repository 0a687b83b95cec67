"""Strata are counted exactly, and no region holds a part of one beside rows of another."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from anon_sql import AnonError
from anon_sql.regions import strata, tree
from anon_sql.regions.sql import count_select
from anon_sql.regions.tree import leaves_below
from tests.drawing import examples
from tests.regions.by_duckdb import Routed, asked
from tests.regions.test_region_sql import TYPES

TABLE = """
    CREATE OR REPLACE TABLE big AS SELECT
        [1e300, -0.0, NULL, 2.5, 0.0][1 + (i // 7) % {numbers}] AS num,
        if(i % {rare} = 0, 'r' || i % 2, ['a', 'B', NULL][1 + i % 3]) AS "ci""ty",
        i * 7919 % 50 AS age, DATE '2020-01-01' + (i % 40)::INTEGER AS day,
        i * 13 % 4 AS ill, i // 3 AS person
    FROM range({rows}) r(i)"""
QUASI = ["num", 'ci"ty', "age", "day"]


def strata_of(rows, names):
    """Return the stratum of each row plainly."""
    return [tuple(rows[name][at] for name in names) for at in range(len(rows[names[0]]))]


def undivided(routed, names):
    """Require that each region holds whole strata or rows of one alone; return the strata."""
    parts = [part.select(names).to_pydict() for part in routed.parts().values()]
    held = [Counter(strata_of(part, names)) for part in parts]
    whole = sum(held, Counter())
    for region in held:
        assert len(region) == 1 or all(region[each] == whole[each] for each in region)
    return whole


@examples(36, suppress_health_check=list(HealthCheck))
@given(
    rows=st.integers(30, 500),
    numbers=st.integers(1, 5),
    rare=st.sampled_from([2, 17, 40]),
    names=st.sampled_from([["num"], ['ci"ty'], ["num", 'ci"ty'], ['ci"ty', "num", "day"]]),
    k=st.integers(1, 8),
    wanted=st.sampled_from([1, 10, 40, 300]),
    sample=st.sampled_from([20, 200_000]),
    limits=st.sampled_from([{}, {}, {"l": 2}, {"t": 0.4}, {"entity": "person"}]),
    deepest=st.sampled_from([2, 40]),
)
def test_a_region_holds_whole_strata_or_rows_of_one(
    con, monkeypatch, rows, numbers, rare, names, k, wanted, sample, limits, deepest
):
    monkeypatch.setattr(tree, "MAX_DEPTH", deepest)
    con.execute(TABLE.format(rows=rows, numbers=numbers, rare=rare))
    others = [] if "entity" in limits else ["person"]
    roles = {"quasi": QUASI, "sensitive": ["ill"], "identifiers": others}
    call = asked(con, "big", k=k, strata=names, **roles, **limits)
    counted = Counter(strata_of(con.table("big").to_arrow_table().to_pydict(), names))
    try:
        routed = Routed(con, "big", call, wanted, most=1000, sample=sample)
    except AnonError as refused:
        message = str(refused)
        assert limits or f"smallest of {min(counted.values())} row" in message or k > rows
        assert "every stratum must" in message or "at most" in message
        return
    assert min(counted.values()) >= k
    assert undivided(routed, names) == counted
    assert sum(part.num_rows for part in routed.releases()) == rows
    in_pools = [leaf for pool in routed.tree.pools for leaf in leaves_below(pool)]
    assert len(in_pools) == len({*in_pools})
    by_statement, in_memory = routed.leaves()
    assert by_statement == in_memory


@pytest.mark.parametrize("kind", TYPES)
def test_strata_of_every_type(con, kind):
    """Cut points are printed and read back without loss, so that no stratum is divided."""
    value = f"if(i % 8 = 0, NULL, {TYPES[kind]})"
    con.execute(
        f"CREATE TABLE big AS SELECT CAST({value} AS {kind}) AS v, j AS age, v::VARCHAR AS s "
        "FROM range(20) r(i), range(9) q(j)"
    )
    call = asked(con, "big", k=3, quasi=["v", "age"], keep=["s"], strata=["v"])
    routed = Routed(con, "big", call, 20, sample=30)
    assert len(undivided(routed, ["s"])) > 1


def test_the_smaller_strata_share_regions(con):
    """1,000 strata of 4 rows and one of 1,000 are not 1,001 regions."""
    con.execute(
        "CREATE TABLE big AS SELECT least(i // 4, 1000) AS v, i AS age FROM range(5000) r(i)"
    )
    call = asked(con, "big", k=4, quasi=["v", "age"], strata=["v"])
    routed = Routed(con, "big", call, 200, sample=100)
    assert len(undivided(routed, ["v"])) == 1001
    assert len(routed.regions.rows) < 60
    assert max(routed.regions.rows) <= 400


@pytest.mark.parametrize("cells", [1, 100])
def test_strata_are_counted_some_at_a_time(con, monkeypatch, cells):
    con.execute(TABLE.format(rows=240, numbers=4, rare=40))
    roles = {"quasi": QUASI, "sensitive": ["ill"], "identifiers": ["person"]}
    call = asked(con, "big", k=2, l=3, strata=["num", 'ci"ty'], **roles)
    with pytest.raises(AnonError, match="every stratum must satisfy k, l and t") as wanted:
        Routed(con, "big", call, 50)
    monkeypatch.setattr(strata, "_MAX_CELLS", cells)
    with pytest.raises(AnonError) as found:
        Routed(con, "big", call, 50)
    assert str(found.value) == str(wanted.value)


def test_too_many_strata_are_refused(con, monkeypatch):
    monkeypatch.setattr(strata, "MAX_STRATA", 19)
    con.execute("CREATE TABLE big AS SELECT i % 20 AS v, i AS age FROM range(205) r(i)")
    call = {"quasi": ["v", "age"], "strata": ["v"]}
    with pytest.raises(AnonError, match="a release in parts must have at most 19 strata, got more"):
        Routed(con, "big", asked(con, "big", k=10, **call), 50)
    with pytest.raises(AnonError, match="got 15 that do not, the smallest of 10 rows"):
        Routed(con, "big", asked(con, "big", k=11, **call), 50)
    with pytest.raises(AnonError, match="k must be at most the number of rows, 205"):
        Routed(con, "big", asked(con, "big", k=300, **call), 50)


def test_statements_of_strata_name_no_value(con):
    con.execute(TABLE.format(rows=90, numbers=2, rare=40))
    call = asked(con, "big", k=1, quasi=QUASI, keep=["ill", "person"], strata=['ci"ty', "num"])
    ran = []

    def run(sql):
        ran.append(sql)
        return con.sql(sql).to_arrow_table()

    domain = Routed(con, "big", call, 20).domain
    found = strata.table_strata(call, domain, "duckdb", "big", run)
    assert found.rows.sum() == 90
    assert len(ran) == 1
    assert "1e+300" not in ran[0]
    assert "'" not in ran[0]
    assert count_select(call, "spark", "big", None).count("`") > 0
