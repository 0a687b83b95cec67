"""A release in parts keeps strata as a release in one statement does, and refuses the same."""

from collections import defaultdict
from itertools import count

import duckdb
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import anon_sql
from anon_sql import AnonError
from anon_sql.core.names import quote
from anon_sql.hosts.parts.release import Routing
from anon_sql.regions import sql
from tests.drawing import examples
from tests.hosts.parts.test_resume import broken_off

pytestmark = pytest.mark.oldest

QUASI = ["age", 'ci"ty', "sex", "num"]
TABLE = """
    CREATE OR REPLACE TABLE big AS SELECT
        i AS row, if(i % 19 = 0, NULL, i * 7919 % 60) AS age, i * 13 % 4 AS ill, i // 2 AS person,
        if(i % {rare} = 0, '{{a}}', ['a', 'b', NULL][1 + i % 3]) AS "ci""ty",
        if(i % 7 = 0, NULL, i % 2) AS sex, [0.1, 1e300, NULL][1 + (i // 5) % 3]::DOUBLE AS num
    FROM range({rows}) AS r(i)"""
CALL = {"quasi": QUASI, "sensitive": "ill", "identifiers": ["person"], "keep": ["row"]}
MORE = [
    *({}, {}, {"l": 2}, {"t": 0.5}, {"beta": 2}, {"format": "typed"}, {"suppressed": "drop"}),
    *({"suppression_limit": 0.2}, {"suppression_limit": 0.2, "suppressed": "drop"}),
    *({"entity": "person"}, {"entity": "person", "l": 2}, {"weights": {"age": 3}, "seed": 7}),
]


def in_one_statement(con, call):
    """Make the release ``one`` in one statement; return the error, '' for none."""
    listed = ", ".join(f"{name} := ${name}" for name in call)
    try:
        con.execute(f"CREATE OR REPLACE TABLE one AS FROM anonymize('big', {listed})", call)
    except duckdb.Error as refused:
        return str(refused)
    return ""


def shown_strata(con, released, names):
    """Return the labels of each stratum in a release, all rows suppressed left out."""
    raw, shown = (
        ", ".join(f"{side}.{quote(n)}::VARCHAR" for n in names) for side in ("big", "one")
    )
    found = defaultdict(set)
    every = " AND ".join(f"coalesce(one.{quote(n)}::VARCHAR, '') IN ('*', '[*]')" for n in QUASI)
    for row in con.execute(
        f"SELECT {raw}, {shown} FROM {released} AS one JOIN big USING (row) WHERE NOT ({every})"
    ).fetchall():
        found[row[: len(names)]].add(row[len(names) :])
    return found


@examples(24, suppress_health_check=list(HealthCheck))
@given(
    rows=st.integers(40, 200),
    rare=st.sampled_from([5, 17, 40]),
    names=st.sampled_from([["num"], ['ci"ty'], ["sex", "num"], ['ci"ty', "sex"]]),
    k=st.integers(1, 7),
    size=st.sampled_from([9, 25, 60, 1000]),
    more=st.sampled_from(MORE),
    coarse=st.booleans(),
)
def test_classes_lie_within_strata(con, monkeypatch, rows, rare, names, k, size, more, coarse):
    if coarse:
        monkeypatch.setattr(sql, "one_in", lambda rows: 20)
    con.execute("DROP TABLE IF EXISTS release")
    con.execute(TABLE.format(rows=rows, rare=rare))
    call = {**CALL, "k": k, "strata": names, "effort": "fast", **more}
    call["identifiers"] = [] if "entity" in more else ["person"]
    refused = in_one_statement(con, call)
    if refused:
        with pytest.raises(AnonError) as error:
            anon_sql.release(con, "big", into="release", part_rows=size, **call)
        assert str(error.value) in refused
        assert "\n" not in str(error.value)
        assert con.execute("FROM duckdb_tables() WHERE table_name = 'release'").fetchall() == []
        return
    made = anon_sql.release(con, "big", into="release", part_rows=size, **call)
    dropped = rows - con.execute("SELECT count(*) FROM release").fetchall()[0][0]
    assert dropped == made.suppressed
    assert dropped == 0 or "suppression_limit" in more
    strata = shown_strata(con, "release", names)
    assert {len(labels) for labels in strata.values()} <= {1}
    one = shown_strata(con, "one", names)
    assert {each: one[each] for each in strata if each in one} == {
        each: strata[each] for each in strata if each in one
    }
    passed_on = ("l", "t", "beta", "entity", "suppressed")
    checked = {name: more[name] for name in passed_on if name in more}
    listed = "".join(f", {name} := {value!r}" for name, value in checked.items())
    failed = con.execute(
        f"SELECT property FROM audit('big', 'release', k := {k}, quasi := {QUASI}, "
        f"sensitive := 'ill'{listed}) WHERE passed = false"
    ).fetchall()
    asked = {"k", "l", "t", "beta", "true_labels", "rows"}
    assert [name for (name,) in failed if name in asked] == []
    ordered = con.execute("SELECT count(DISTINCT row) FROM release").fetchall()[0][0]
    assert ordered == rows - dropped


def test_a_stratum_that_the_sample_missed_is_refused_before_rows_are_spilled(con, monkeypatch):
    con.execute(TABLE.format(rows=400, rare=1000) + "; UPDATE big SET sex = 5 WHERE row IN (7, 9)")
    monkeypatch.setattr(Routing, "spill", None)
    rule = "every stratum must have at least 3 rows, got 1 that does not, the smallest of 2 rows"
    with pytest.raises(AnonError, match=rule):
        anon_sql.release(con, "big", into="release", k=3, strata=["sex"], part_rows=50, **CALL)


def test_t_compares_with_the_whole_table(con):
    con.execute(TABLE.format(rows=400, rare=1000) + "; UPDATE big SET ill = 9 WHERE sex = 1")
    call = {**CALL, "k": 3, "t": 0.4, "strata": ["sex"]}
    error = "every stratum must satisfy k, l and t, got 1 that does not, the smallest of 171 rows"
    assert error in in_one_statement(con, call)
    with pytest.raises(AnonError, match=error):
        anon_sql.release(con, "big", into="release", part_rows=50, **call)


def test_the_rows_depend_on_neither_order_nor_threads(con):
    con.execute(TABLE.format(rows=300, rare=11))
    call = {**CALL, "k": 4, "strata": ['ci"ty', "sex"], "part_rows": 40, "effort": "fast"}
    anon_sql.release(con, "big", into="first", **call)
    con.execute("CREATE TABLE other AS FROM big ORDER BY hash(row); SET threads = 1")
    anon_sql.release(con, "other", into="second", **call)
    con.execute("RESET threads")
    assert con.table("first").fetchall() == con.table("second").fetchall()


def test_resume_with_strata(con, tmp_path, monkeypatch):
    con.execute(TABLE.format(rows=300, rare=11))
    target = tmp_path / "o.parquet"
    call = {
        **CALL,
        "k": 4,
        "part_rows": 40,
        "effort": "fast",
        "into": str(target),
        "resume": True,
    }
    with monkeypatch.context() as patched:
        broken_off(patched, 3)
        with pytest.raises(AnonError, match="broken off"):
            anon_sql.release(con, "big", strata=["sex"], **call)
    (folder,) = tmp_path.iterdir()
    done = len(list((folder / "done").glob("*.arrow")))
    assert done >= 2
    with pytest.raises(AnonError, match="got other parameters"):
        anon_sql.release(con, "big", strata=["num"], **call)
    with monkeypatch.context() as patched:
        calls = broken_off(patched, 1000)
        made = anon_sql.release(con, "big", strata=["sex"], **call)
    assert len(calls) == made.parts - done
    anon_sql.release(con, "big", strata=["sex"], **{**call, "into": "whole", "resume": False})
    assert con.execute(f"FROM '{target}'").fetchall() == con.table("whole").fetchall()


def test_a_stratum_that_comes_while_the_table_is_routed_is_refused(con, monkeypatch):
    """Rows of two strata in a region of one would be no class; the region refuses them."""
    con.execute(TABLE.format(rows=400, rare=1000))
    calls, real = count(), Routing.spill

    def changed(self, *given):
        if next(calls) == 0:
            con.execute("UPDATE big SET sex = 5 WHERE row = 8")
        return real(self, *given)

    monkeypatch.setattr(Routing, "spill", changed)
    with pytest.raises(AnonError, match="every stratum must have at least 3 rows, got 1"):
        anon_sql.release(con, "big", into="release", k=3, strata=["sex"], part_rows=50, **CALL)
    assert con.execute("FROM duckdb_tables() WHERE table_name = 'release'").fetchall() == []


def test_text_that_a_collation_makes_equal(con):
    con.execute(
        "CREATE TABLE big (v VARCHAR COLLATE NOCASE, age INTEGER); INSERT INTO big "
        "SELECT if(i % 3 = 0, 'A', 'a'), i FROM range(90) r(i)"
    )
    call = {"quasi": ["v", "age"], "strata": ["v"], "part_rows": 10, "into": "release"}
    with pytest.raises(AnonError, match="got 1 that does not, the smallest of 30 rows"):
        anon_sql.release(con, "big", k=31, **call)
    anon_sql.release(con, "big", k=5, **call)
    found = con.execute("SELECT encode(v), count(*) FROM release GROUP BY ALL ORDER BY ALL")
    assert found.fetchall() == [(b"A", 30), (b"a", 60)]
