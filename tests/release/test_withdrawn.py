"""The withdrawn parameters of releases: whoever passes one gets the same sentence everywhere."""

import pytest

import anon_sql
from tests.command import refused
from tests.sentence import fails

ROLES = "qids := ['age'], sensitive := 'ill', keep := ['*']"
SAID = (
    "{}: invariant, previous and counterfeits of release functions are withdrawn, because "
    "releases made with them disclose sensitive values together, got {}; release a series "
    "(series_next, anonymize with series), or new persons only, whom ledger_new selects "
    "(anon-sql help releasing-again)"
)
GIVEN = [
    ("invariant := true", "invariant"),
    ("previous := 'may'", "previous"),
    ("previous := ['may', 'gone']", "previous"),
    ("previous := []", "previous"),
    ("counterfeits := true", "counterfeits"),
    ("counterfeits := 3", "counterfeits"),
    ("counterfeits := true, previous := ['may'], invariant := true",
     "invariant and previous and counterfeits"),
]  # fmt: skip


@pytest.fixture
def people(con):
    con.execute("CREATE TABLE people AS SELECT i % 40 AS age, i % 5 AS ill FROM range(200) AS r(i)")
    con.execute(f"CREATE TABLE may AS FROM anonymize('people', k := 5, {ROLES})")
    return con


@pytest.mark.parametrize(("given", "got"), GIVEN)
def test_a_release_that_asks_for_a_series_is_refused(people, given, got):
    asked = f"FROM anonymize('people', k := 5, l := 2, {ROLES}, {given})"
    assert fails(people, asked) == SAID.format("anonymize", got)


def test_what_asks_for_nothing_is_no_error(people):
    asked = "previous := NULL, invariant := false, counterfeits := false"
    found = people.execute(f"FROM anonymize('people', k := 5, {ROLES}, {asked})").fetchall()
    assert found == people.execute("FROM may").fetchall()


def test_the_call_of_python_is_refused_in_one_statement_and_in_parts(people, tmp_path):
    for more in ({}, {"regions": 2}):
        for name, value in (("invariant", True), ("previous", ["may"]), ("counterfeits", True)):
            with pytest.raises(anon_sql.AnonError) as found:
                anon_sql.release(
                    people, "people", into="june", k=5, qids=["age"], sensitive="ill",
                    **{name: value}, **more,
                )  # fmt: skip
            assert str(found.value) == SAID.format("anonymize", name)


def test_options_of_compare_are_refused(people):
    asked = "FROM compare('people', ks := [5], methods := ['anonymize'], qids := ['age'], options := {})"
    given = "{'anonymize': {'invariant': true}}"
    assert fails(people, asked.format(given)) == SAID.format("compare", "invariant")


def test_audit_and_manifest_refuse_counterfeits(people):
    audit = f"FROM audit('people', 'may', 5, {ROLES}, counterfeits := {{}})"
    assert fails(people, audit.format(4)) == SAID.format("audit", "counterfeits")
    assert (
        people.execute(audit.format(0)).fetchall()
        == people.execute(f"FROM audit('people', 'may', 5, {ROLES})").fetchall()
    )
    for given in ("counterfeits := 4", "invariant := true"):
        asked = f"FROM anon_manifest('people', 'may', 'anonymize', k := 5, {ROLES}, {given})"
        assert fails(people, asked) == SAID.format("audit", "counterfeits")


def test_the_command_line_refuses_and_writes_nothing(people, tmp_path):
    source, out = tmp_path / "people.csv", tmp_path / "out.csv"
    people.execute(f"COPY people TO '{source}'")
    for name in ("invariant", "counterfeits"):
        said = refused("release", source, out, "--quasi", "age", "--keep", "*", f"--{name}")
        assert said == SAID.format("release", name)
        assert not out.exists()
