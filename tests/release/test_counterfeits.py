"""anonymize with counterfeits: values that have left are shown beside their groups of values."""

from collections import Counter

import pytest

from tests.sentence import fails

QIDS = ["age", "sex"]
ROLES = f"qids := {QIDS}, sensitive := 'ill', entity := 'person'"


def anonymize(table, more, k=5, m=3):
    return f"FROM anonymize('{table}', k := {k}, l := {m}, {ROLES}, {more})"


@pytest.fixture
def left(con):
    """Two months of eight values, in two groups of four; in june nobody has v1, v5 or v6."""
    for name, low in (("may", 0), ("june", 80)):
        con.execute(
            f"CREATE TABLE {name} AS SELECT i AS person, 20 + i * 37 % 60 AS age, "
            f"['f', 'm'][1 + i * 13 % 7 % 2] AS sex, 'v' || hash(i) % 8 AS ill "
            f"FROM range({low}, {low + 400}) AS made(i)"
        )
    con.execute(f"CREATE TABLE kept AS {anonymize('may', 'invariant := true')}")
    con.execute("DELETE FROM june WHERE ill IN ('v1', 'v5', 'v6')")
    return con


def groups_of(con, release):
    rows = con.execute(f"SELECT DISTINCT list(DISTINCT ill) FROM {release} GROUP BY age, sex")
    sets = {frozenset(values) for (values,) in rows.fetchall()}
    return {values for values in sets if not any(other < values for other in sets)}


@pytest.mark.parametrize("form", ["label", "typed"])
def test_as_many_as_rows_of_the_rarest_other_value(left, form):
    """By plain loops over the classes of labels."""
    groups = groups_of(left, "kept")
    more = f"previous := 'kept', counterfeits := true, format := '{form}'"
    left.execute(f"CREATE TABLE now AS {anonymize('june', more)}")
    gone = {"v1", "v5", "v6"}
    rows = left.execute(
        "SELECT age::VARCHAR, sex::VARCHAR, list(ill) FROM now GROUP BY ALL"
    ).fetchall()
    for *_, values in rows:
        counts = Counter(values)
        real = {value: n for value, n in counts.items() if value not in gone}
        assert sum(real.values()) >= 5
        shown = [group for group in groups if group & counts.keys()]
        assert counts.keys() == set().union(*shown)
        for group in shown if len(shown) == 1 else ():
            least = min(n for value, n in real.items() if value in group)
            assert all(counts[value] == least for value in group & gone)
    released = left.execute("SELECT ill FROM now WHERE ill NOT IN ('v1', 'v5', 'v6') ORDER BY ALL")
    assert released.fetchall() == left.execute("SELECT ill FROM june ORDER BY ALL").fetchall()
    assert groups_of(left, "now") == groups


def test_the_audit_counts_them_apart(left):
    more = "previous := 'kept', counterfeits := true"
    left.execute(f"CREATE TABLE now AS {anonymize('june', more)}")
    ((added,),) = left.execute(
        "SELECT count(*) FROM now WHERE ill IN ('v1', 'v5', 'v6')"
    ).fetchall()
    audit = f"audit('june', 'now', 5, 3, {ROLES}, previous := 'kept', counterfeits := {{}})"
    found = {row[0]: row for row in left.execute(f"FROM {audit.format(added)}").fetchall()}
    assert found["counterfeits"][1:4] == (added, added, True)
    assert found["rows"][1:4] == (
        left.sql("FROM june").shape[0],
        left.sql("FROM june").shape[0],
        True,
    )
    assert {"composition", "l", "k", "matching"} <= {name for name, row in found.items() if row[3]}
    assert not [name for name, row in found.items() if row[3] is False]
    for number in (added - 1, 0):
        failed = f"SELECT property FROM {audit.format(number)} WHERE NOT passed ORDER BY ALL"
        names = [name for (name,) in left.execute(failed).fetchall()]
        assert names == (
            ["counterfeits"] if number else ["kept values", "labels", "matching", "rows"]
        )
    left.execute("DELETE FROM now WHERE rowid = (SELECT min(rowid) FROM now WHERE ill = 'v2')")
    failed = f"SELECT property FROM {audit.format(added)} WHERE NOT passed"
    assert ("rows",) in left.execute(failed).fetchall()


def test_they_are_none_where_no_value_has_left(left):
    asked = anonymize("may", "previous := 'kept', counterfeits := {}")
    assert (
        left.execute(asked.format(True)).fetchall() == left.execute(asked.format(False)).fetchall()
    )


def test_their_place_does_not_tell_them(left):
    """Within a class rows are ordered by a hash of their values, and the same call gives the same."""
    asked = anonymize("june", "previous := 'kept', counterfeits := true")
    rows = left.execute(asked).fetchall()
    assert rows == left.execute(asked).fetchall()
    classes = {}
    for age, sex, ill in rows:
        classes.setdefault((age, sex), []).append(ill)
    assert {values[-1] in ("v1", "v5", "v6") for values in classes.values()} == {True, False}


def test_a_value_that_comes_back(left):
    for name, table, more in (
        ("now", "june", "previous := 'kept', counterfeits := true"),
        ("later", "may", "previous := ['kept', 'now']"),
    ):
        left.execute(f"CREATE TABLE {name} AS {anonymize(table, more)}")
    assert groups_of(left, "later") == groups_of(left, "kept")


def test_hostile_names_nulls_and_a_table_without_rows(con):
    con.execute(
        'CREATE TABLE "a b.c" AS SELECT i AS "__made", \'x\' AS sex, nullif(i % 7, 6) '
        "AS \"select 'ill'\" FROM range(70) AS made(i)"
    )
    call = (
        "FROM anonymize('\"a b.c\"', k := 4, l := 3, qids := ['__made', 'sex'], "
        "sensitive := 'SELECT ''ill''', {})"
    )
    con.execute(f'CREATE TABLE "R 1" AS {call.format("invariant := true")}')
    con.execute('DELETE FROM "a b.c" WHERE "select \'ill\'" = 1')
    wanted = call.format("previous := '\"R 1\"', counterfeits := true")
    shown = [row[-1] for row in con.execute(wanted).fetchall()]
    assert shown.count(None) == 10
    assert shown.count(1) > 0
    assert len(shown) == 60 + shown.count(1)
    con.execute('DELETE FROM "a b.c"')
    assert con.execute(wanted).fetchall() == []


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("counterfeits := true", "with previous, got none; leave counterfeits out"),
        (
            "previous := 'kept', counterfeits := true, keep := ['city']",
            "without kept columns, which they have no values for, got city; name them in identifiers",
        ),
        (
            "previous := 'kept', counterfeits := true, t := 0.5, beta := 2",
            "without t, beta and delta, got t and beta; leave them out",
        ),
        (
            "previous := 'kept', counterfeits := true, suppressed := 'drop'",
            "with suppressed := 'keep', so that rows can be counted, got 'drop'",
        ),
    ],
)
def test_what_it_refuses(left, more, said):
    left.execute("ALTER TABLE june ADD COLUMN city VARCHAR")
    extra = "" if "keep :=" in more else ", identifiers := ['city']"
    said = f"anonymize: counterfeits must come {said}"
    assert fails(left, anonymize("june", more + extra)) == said


@pytest.mark.parametrize("given", ["[]", "[NULL]", "['kept', NULL]", "5"])
def test_previous_must_name_releases(left, given):
    got = {"[]": "an empty list", "5": "5"}.get(given, "another list")
    rule = f"previous must be a name or a list of names of relations, got {got}"
    assert fails(left, anonymize("june", f"previous := {given}")) == f"anonymize: {rule}"
    asked = f"FROM audit('may', 'kept', 5, 3, {ROLES}, previous := {given})"
    assert fails(left, asked) == f"audit: {rule}"


def test_the_manifest_states_the_series(left):
    more = "previous := 'kept', counterfeits := true"
    left.execute(f"CREATE TABLE now AS {anonymize('june', more)}")
    ((real, added),) = left.execute(
        "SELECT (SELECT count(*) FROM june), (SELECT count(*) FROM now) - (SELECT count(*) FROM june)"
    ).fetchall()
    call = f"anon_manifest('june', 'now', 'anonymize', k := 5, l := 3, {ROLES}, invariant := true, "
    ((series, rows, loss),) = left.execute(
        f"SELECT series, measures.released_rows, measures.gcp FROM {call}"
        f"previous := ['kept'], counterfeits := {added})"
    ).fetchall()
    ((digest,),) = left.execute("FROM __anon_rows_sha256('kept')").fetchall()
    assert series["previous"] == [{"name": "kept", "rows_sha256": digest}]
    assert (series["invariant"], series["counterfeits"], rows) == (True, added, real)
    assert 0 < loss < 1
    call = call.replace("'june', 'now'", "'may', 'kept'").removesuffix(", ")
    ((first,),) = left.execute(f"SELECT series FROM {call})").fetchall()
    assert (first["previous"], first["counterfeits"]) == ([], 0)
