"""The role exclude: columns that are left out although they are not identifiers, in every host."""

import json

import pytest

import anon_sql
from anon_sql import AnonError, frames
from tests.command import refused, run
from tests.sentence import fails

TABLE = (
    "SELECT i % 40 AS age, i % 7 AS visits, 'said ' || i % 300 AS remarks, i AS id, "
    "'i' || i % 3 AS illness FROM range(400) AS made(i)"
)
ROLES = "quasi := ['age'], keep := ['visits'], sensitive := 'illness', identifiers := 'id'"


@pytest.fixture
def t(con):
    con.execute(f"CREATE TABLE t AS {TABLE}")
    return con


def columns(con, call):
    return [name for name, *_ in con.execute(call).description]


def test_a_release_leaves_it_out_by_parameter_and_by_comment(t):
    said = columns(t, f"FROM mondrian('t', k := 5, {ROLES}, exclude := ['remarks'])")
    assert said == ["age", "visits", "illness"]
    anon_sql.declare(
        t, "t", quasi="age", keep="visits", sensitive="illness", identifier="id", exclude="REMARKS"
    )
    assert columns(t, "FROM mondrian('t', k := 5)") == said
    roles = t.execute("SELECT column_name, role FROM anon_roles('t')").fetchall()
    assert dict(roles)["remarks"] == "exclude"


def test_a_declared_quasi_identifier_may_be_left_out(t):
    t.execute("COMMENT ON COLUMN t.visits IS 'anon:quasi'")
    given = "quasi := 'age', identifiers := 'id', exclude := ['visits', 'remarks', 'illness']"
    assert columns(t, f"FROM mondrian('t', k := 5, {given})") == ["age"]


def test_one_role_a_column(t):
    call = f"FROM mondrian('t', k := 5, {ROLES}, exclude := ['remarks', 'visits'])"
    assert "a column has one role, got visits as keep and as exclude" in fails(t, call)
    assert "exclude must name columns of the table, got 'remark'" in fails(
        t, f"FROM mondrian('t', k := 5, {ROLES}, exclude := 'remark')"
    )


def test_an_audit_requires_that_it_is_gone(t):
    t.execute(f"CREATE TABLE r AS FROM mondrian('t', k := 5, {ROLES}, exclude := 'remarks')")
    found = "SELECT passed FROM audit('t', '{}', 5, {}, exclude := 'remarks') WHERE property = '{}'"
    assert t.execute(found.format("r", ROLES, "identifiers")).fetchall() == [(True,)]
    t.execute("CREATE TABLE left_in AS SELECT *, 'x' AS remarks FROM r")
    assert t.execute(found.format("left_in", ROLES, "identifiers")).fetchall() == [(False,)]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("quasi := ['age'], keep := 'visits', identifiers := '*'", {"age", "visits"}),
        ("quasi := 'age', keep := ['visits'], exclude := ['*']", {"age", "visits"}),
        ("quasi := '*', identifiers := ['id', 'remarks']", {"age", "visits", "illness"}),
        ("quasi := 'age', exclude := ['id', 'remarks'], sensitive := '*', l := 2",
         {"age", "visits", "illness"}),
    ],
)  # fmt: skip
def test_a_star_in_any_role(t, given, kept):
    assert set(columns(t, f"FROM mondrian('t', k := 5, {given})")) == kept
    assert t.execute(f"SELECT count(*) FROM mondrian('t', k := 5, {given})").fetchall() == [(400,)]


def test_only_one_star(t):
    said = fails(t, "FROM mondrian('t', k := 5, quasi := 'age', keep := '*', exclude := '*')")
    assert said == ("mondrian: keep := ['*'] must be the only * of a call, got another in exclude")
    t.execute('ALTER TABLE t RENAME COLUMN id TO "*"')
    said = fails(t, "FROM mondrian('t', k := 5, quasi := 'age', exclude := '*')")
    assert said.startswith("mondrian: exclude := ['*'] must be clear, got a column named *")


def test_frames(t):
    made = frames.mondrian(
        t.sql("FROM t").df(), k=5, quasi="age", keep="visits", sensitive="illness", exclude="*"
    )
    assert list(made.columns) == ["age", "visits", "illness"]


def test_the_command_line_and_its_manifest(t, tmp_path):
    raw, out = tmp_path / "t.csv", tmp_path / "safe.csv"
    t.execute(f"COPY t TO '{raw}'")
    roles = ("--quasi", "age", "--sensitive", "illness", "--identifier", "id")
    result = run(
        "release", raw, out, *roles, "--keep", "visits", "--exclude", "remarks", "--manifest"
    )
    assert result.exit_code == 0, result.output
    assert out.read_text().splitlines()[0] == "age,visits,illness"
    written = json.loads((tmp_path / "safe.csv.anon.json").read_text())
    assert written["roles"]["exclude"] == ["remarks"]
    assert run("verify", out, "--raw", raw).exit_code == 0
    result = run(
        "release", raw, out, *roles[:-1], "*", "--keep", "visits", "--manifest", "--overwrite"
    )
    assert result.exit_code == 0, result.output
    written = json.loads((tmp_path / "safe.csv.anon.json").read_text())
    assert written["roles"]["identifiers"] == ["remarks", "id"]
    said = refused("release", raw, out, *roles, "--keep", "*", "--exclude", "*", "--overwrite")
    assert said == "anonymize: --keep '*' must be the only * of a call, got another in --exclude"


def test_a_manifest_of_an_earlier_version_has_no_such_role(t, tmp_path):
    raw, out = tmp_path / "t.csv", tmp_path / "safe.csv"
    t.execute(f"COPY t TO '{raw}'")
    roles = ("--quasi", "age", "--sensitive", "illness", "--keep", "visits", "--identifier", "*")
    assert run("release", raw, out, *roles, "--manifest").exit_code == 0
    path = tmp_path / "safe.csv.anon.json"
    written = json.loads(path.read_text())
    del written["roles"]["exclude"]
    path.write_text(json.dumps(written))
    assert run("verify", out).exit_code == 3


def test_declare_names_columns(t):
    with pytest.raises(AnonError, match="exclude must name columns of the table, got 'nobody'"):
        anon_sql.declare(t, "t", exclude=["nobody"])
