"""anonymize with invariant and previous: releases of a changing table that compose (m-invariance)."""

from collections import Counter, defaultdict

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anon_sql
from tests.drawing import examples
from tests.inserting import insert
from tests.sentence import fails

ROLES = "qids := ['age', 'sex'], sensitive := 'ill', entity := 'person'"


def anonymize(k, m, more, table="now"):
    return f"FROM anonymize('{table}', k := {k}, l := {m}, {ROLES}, {more})"


def classes(con, release):
    """The values that each class of labels shows."""
    found = defaultdict(set)
    for *labels, value in con.execute(f"SELECT age, sex, ill FROM {release}").fetchall():
        found[tuple(map(str, labels))].add(value)
    return list(found.values())


def whole(sets, m):
    """Whether all values that are somewhere together without others are at least m."""
    within = defaultdict(list)
    for at, values in enumerate(sets):
        for value in values:
            within[value].append(at)
    return all(size >= m for size in Counter(map(tuple, within.values())).values())


def test_nobody_is_below_m_after_five_months(con):
    """Persons join, leave, come back, grow older and fall ill with something else."""
    person = st.tuples(
        st.lists(st.booleans(), min_size=5, max_size=5),  # the months in which the person is there
        st.integers(0, 20),
        st.sampled_from(["f", "m", None]),
        st.integers(0, 8),
        st.integers(0, 40),  # the value changes in this month
    )

    @examples(12)
    @given(
        st.lists(person, min_size=25, max_size=60),
        st.integers(2, 3),
        st.integers(1, 5),
        st.booleans(),
    )
    def drawn(history, m, k, counterfeits):
        con.execute("CREATE OR REPLACE TABLE everyone (person INT, age INT, sex TEXT, ill INT)")
        con.execute("CREATE OR REPLACE TABLE now AS FROM everyone")
        released: list[str] = []
        refused: list[str] = []
        for month in range(5):
            rows = [
                (at, age + month, sex, (ill + (month >= change)) % 9)
                for at, (there, age, sex, ill, change) in enumerate(history)
                if there[month]
            ]
            con.execute("DELETE FROM now")
            insert(con, "now", rows)
            asked = f"previous := {released}, counterfeits := {counterfeits}"
            more = asked if released else "invariant := true"
            try:
                con.execute(f"CREATE OR REPLACE TABLE r{month} AS {anonymize(k, m, more)}")
            except duckdb.Error as error:  # a value has left, or new ones are too few
                refused.append(str(error))
                continue
            known = [row[3] for row in rows]
            shown = [row[0] for row in con.execute(f"SELECT ill FROM r{month}").fetchall()]
            assert sorted(value for value in shown if value in known) == sorted(known)
            assert counterfeits or len(shown) == len(known)
            assert whole(classes(con, f"r{month}"), m)
            released.append(f"r{month}")
            con.execute("INSERT INTO everyone FROM now")
        assert all("AnonError: anonymize: " in text for text in refused)
        assert not counterfeits or not any("shown with all" in text for text in refused)
        if len(released) > 1:
            *_, all_ = con.execute(
                f"SELECT below_l, least_values FROM composition('everyone', {released}, "
                f"id := 'person', sensitive := 'ill', l := {m}, qids := ['age', 'sex'])"
            ).fetchall()
            assert all_[0] == 0
            assert all_[1] is None or all_[1] >= m

    drawn()


@pytest.fixture
def months(con):
    """A table of eight values, and the next month: 20 % have left, 20 % have come."""
    for name, low in (("may", 0), ("june", 80)):
        con.execute(
            f"CREATE TABLE {name} AS SELECT i AS person, 20 + i * 37 % 60 AS age, "
            f"['f', 'm'][1 + i * 13 % 7 % 2] AS sex, 'v' || hash(i) % 8 AS ill "
            f"FROM range({low}, {low + 400}) AS made(i)"
        )
    con.execute("CREATE TABLE everyone AS FROM may UNION FROM june")
    return con


def below(con, releases):
    """How many persons the releases together leave fewer than 3 values."""
    call = f"composition('everyone', {releases}, id := 'person', l := 3, qids := ['age', 'sex'], "
    *_, (count,) = con.execute(f"SELECT below_l FROM {call}sensitive := 'ill')").fetchall()
    return count


def test_values_that_leave_and_come_back(con):
    """Their groups are those of the first release, though the last one does not show them."""
    for month, ill in enumerate(("i % 6", "i % 3", "i % 9")):
        con.execute(
            f"CREATE TABLE t{month} AS SELECT i AS person, i % 40 AS age, 'f' AS sex, {ill} AS ill "
            "FROM range(180) AS made(i)"
        )
        earlier = [f"r{before}" for before in range(month)]
        more = f"previous := {earlier}" if month else "invariant := true"
        con.execute(f"CREATE TABLE r{month} AS {anonymize(3, 3, more, f't{month}')}")
    first, last = (set(map(frozenset, classes(con, name))) for name in ("r0", "r2"))
    groups = {g for g in first if len(g) == 3}
    assert len(groups) == 2
    assert all(g <= shown or not g & shown for g in groups for shown in last)


@pytest.mark.parametrize("form", ["label", "typed"])
def test_two_months(months, form):
    given = f"format := '{form}'"
    for name, more in (("may", "invariant := true"), ("june", "previous := ['may_kept']")):
        for kept in (f"{name}_kept", f"{name}_free"):
            wanted = f"{more}, {given}" if kept.endswith("kept") else given
            months.execute(f"CREATE TABLE {kept} AS {anonymize(5, 3, wanted, name)}")
    assert below(months, ["may_kept", "june_kept"]) == 0
    assert below(months, ["may_free", "june_free"]) > 0
    audited = months.execute(
        f"FROM audit('june', 'june_kept', 5, 3, {ROLES}, previous := ['may_kept'])"
    )
    checks = {row[0]: row[3] for row in audited.fetchall()}
    assert checks["composition"] is True
    assert False not in checks.values()


def test_names_that_must_be_quoted(con):
    con.execute(
        "CREATE TABLE \"a b.c\" AS SELECT i AS age, 'x' AS sex, "
        "i % 6 AS \"select 'ill'\" FROM range(60) AS made(i)"
    )
    call = (
        "FROM anonymize('\"a b.c\"', k := 4, l := 3, qids := ['age', 'sex'], "
        "sensitive := 'SELECT ''ill''', {})"
    )
    con.execute(f'CREATE TABLE "R 1" AS {call.format("invariant := true")}')
    found = con.execute(call.format("previous := '\"R 1\"'"))
    assert len(found.fetchall()) == 60


@pytest.mark.parametrize(
    ("change", "more", "said"),
    [
        (
            "DELETE FROM june WHERE ill = 'v1'",
            "previous := 'kept'",
            "every value must be shown with all that previous shows with it, got {rows} rows for "
            "which 1 of these values is not in the table; leave these rows out of this release, or pass "
            "counterfeits := true",
        ),
        (
            "UPDATE june SET ill = 'new' WHERE person < 90",
            "previous := 'kept'",
            "values that previous does not show must be at least l, 3, different ones, got 10 rows "
            "with 1; recode them, or leave these rows out",
        ),
        (
            "SELECT 1",
            "previous := 'free'",
            "previous must show each value with the same 2 or more others everywhere, got 8 "
            "that they do not; begin a series with invariant := true and this l; a release that was "
            "made without it cannot be continued",
        ),
        (
            "ALTER TABLE june ALTER ill TYPE INTEGER USING right(ill, 1)::INTEGER",
            "previous := 'kept'",
            "previous must have ill in the type of the table, INTEGER, got VARCHAR; cast it",
        ),
        ("SELECT 1", "previous := 'bare'", "previous must show the values of ill, got none"),
        ("SELECT 1", "invariant := 1", "invariant must be true or false, got 1"),
        (
            "SELECT 1",
            "invariant := true, strata := ['sex']",
            "invariant and previous must come without strata, got sex; leave strata out",
        ),
    ],
)
def test_what_it_refuses(months, change, more, said):
    months.execute(f"CREATE TABLE kept AS {anonymize(5, 3, 'invariant := true', 'may')}")
    months.execute(f"CREATE TABLE free AS {anonymize(5, 3, 'seed := 1', 'may')}")
    months.execute("CREATE TABLE bare AS SELECT age, sex FROM kept")
    months.execute(change).fetchall()
    if "{rows}" in said:
        (group,) = {frozenset(s) for s in classes(months, "kept") if "v1" in s and len(s) < 8}
        listed = ", ".join(f"'{value}'" for value in group)
        count = f"SELECT count(*) FROM june WHERE ill IN ({listed})"
        said = said.format(rows=months.execute(count).fetchall()[0][0])
    assert fails(months, anonymize(5, 3, more, "june")) == f"anonymize: {said}"


def test_what_it_needs(months):
    call = "FROM anonymize('may', k := 5, qids := ['age', 'sex'], identifiers := ['person'], {})"
    assert fails(months, call.format("keep := ['*'], invariant := true")) == (
        "anonymize: invariant and previous need one sensitive column, got none"
    )
    assert fails(months, call.format("sensitive := 'ill', invariant := true")) == (
        "anonymize: invariant and previous need l of at least 2 distinct values, got l := 1 "
        "(distinct); pass l := 3"
    )


def test_not_in_parts(months, tmp_path):
    with pytest.raises(anon_sql.AnonError, match="a release in parts cannot be invariant"):
        anon_sql.release(
            months,
            "may",
            into=str(tmp_path / "r.parquet"),
            k=5,
            l=3,
            qids=["age", "sex"],
            sensitive="ill",
            entity="person",
            invariant=True,
            regions=2,
        )
