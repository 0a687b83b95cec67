"""What a release leaves out is limited for the whole table, in parts as in one statement."""

import duckdb
import pytest

import anon_sql
from anon_sql import AnonError
from tests.command import refused, run

CALL = {"k": 60, "quasi": ["c"], "keep": ["w", "*"], "hierarchy": "tree", "effort": "fast"}
WAYS = [{}, {"part_rows": 200}, {"parts": 9}]


@pytest.fixture
def made(con):
    """Two groups of 60 rows at both ends of the order, whose only label together is *."""
    con.execute(
        "CREATE TABLE t AS SELECT CASE WHEN i < 60 THEN 'a' || i % 6 WHEN i < 940 "
        "THEN 'm' || i % 4 ELSE 'z' || i % 6 END AS c, i AS w FROM range(1000) AS r(i)"
    )
    con.execute(
        "CREATE TABLE tree AS SELECT 'c' AS attribute, c AS value, l AS level, "
        "if(l = 0, c, '*') AS label FROM (SELECT DISTINCT c FROM t), "
        "(SELECT unnest([0, 1])::INTEGER AS l)"
    )
    return con


def released(con, way, **more):
    return anon_sql.release(
        con, "t", into="r", overwrite=True, suppressed="drop", **CALL, **more, **way
    )


@pytest.mark.parametrize("way", WAYS)
def test_the_limit_is_that_of_the_whole_table(made, way):
    """A region may leave out more than its own share, all regions together no more than theirs."""
    written = released(made, way, suppression_limit=0.12)
    assert (written.rows, written.suppressed) == (1000, 120)
    assert (written.parts > 3) == bool(way)
    assert made.execute("SELECT count(*), count_if(c = '*') FROM r").fetchall() == [(880, 0)]
    stats = "SELECT suppressed FROM utility('t', 'r', quasi := ['c'], hierarchy := 'tree')"
    assert made.execute(stats).fetchall() == [(120,)]
    wanted = "may leave out at most 119 rows, got 120 that are *"
    with pytest.raises((AnonError, duckdb.Error), match=wanted.replace("*", r"\*")):
        released(made, way, suppression_limit=0.119)
    assert made.table("r").shape[0] == 880


@pytest.mark.parametrize("way", WAYS)
def test_a_method_without_a_limit_leaves_out_no_row_of_any_region(made, way):
    for method in ("anonymize", "mondrian", "rayden"):
        given = {name: value for name, value in CALL.items() if name != "effort"}
        with pytest.raises((AnonError, duckdb.Error), match="may leave out no row, got"):
            anon_sql.release(made, "t", into="r", method=method, suppressed="drop", **given, **way)
        assert "r" not in [name for (name,) in made.execute("SHOW TABLES").fetchall()]


@pytest.mark.parametrize("way", WAYS)
def test_a_release_is_never_empty(made, way):
    made.execute("DELETE FROM t WHERE c LIKE 'm%'")
    with pytest.raises((AnonError, duckdb.Error), match="a release must have a row of the table"):
        released(made, way, suppression_limit=1)


@pytest.mark.parametrize("more", [[], ["--part-rows", 200]])
def test_the_command_line_counts_and_refuses_alike(made, tmp_path, more):
    raw, out, tree = (tmp_path / name for name in ("raw.csv", "out.csv", "tree.csv"))
    made.execute(f"COPY t TO '{raw}'")
    made.execute(f"COPY (FROM tree WHERE level = 1) TO '{tree}'")
    call = ["release", raw, out, "--k", 60, "--quasi", "c", "--keep", "w,*", "--effort", "fast"]
    call += ["--hierarchy", tree, "--suppressed", "drop", *more]
    said = refused(*call, "--suppression-limit", 0.1)
    assert said == (
        "anonymize: --suppressed drop may leave out at most 100 rows, got 120 that are * in every "
        "quasi-identifier; raise --suppression-limit, or --suppressed keep shows them"
    )
    assert not out.exists()
    shown = run(*call, "--suppression-limit", 0.12, "--manifest")
    assert shown.exit_code == 0, shown.output
    assert any(line.split()[:2] == ["suppressed", "120"] for line in shown.output.splitlines())
    assert len(out.read_text().splitlines()) == 881
