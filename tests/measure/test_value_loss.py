"""value_loss: SSE / SST and IL1s, beside SQL that joins both relations."""

import pytest

from tests.sentence import fails

TABLE = """CREATE TABLE raw AS SELECT i * 7919 % 90 AS "a ""1", (i * 104729 % 977) / 7.0 AS x,
    DATE '1990-01-01' + (i * 31 % 5000)::INTEGER AS born,
    TIME '00:00:00' + to_seconds(i * 7777 % 80000) AS at,
    ['q', 'r'][1 + i % 2] AS w, i AS rid FROM range(120) r(i)"""
QUASI = ['a "1', "x", "born", "at", "w"]
NUMBERS = {'"a ""1"': '{}."a ""1"', "x": "{}.x", "born": "epoch({}.born)", "at": "epoch({}.at)"}


@pytest.fixture
def raw(con):
    con.execute(TABLE)
    return con


def made(con, form, more=""):
    con.execute(
        f"CREATE OR REPLACE TABLE r AS FROM mondrian('raw', k := 5, quasi := {QUASI}, "
        f"keep := ['rid', '*'], format := '{form}'{more})"
    )


def found(con, more=", id := 'RID'", quasi=QUASI):
    return con.execute(f"FROM value_loss('raw', 'r', quasi := {quasi}{more})").fetchall()


@pytest.mark.parametrize("form", ["mean", "median"])
def test_it_is_what_a_join_gives(raw, form):
    made(raw, form)
    for row, (name, of) in zip(found(raw), NUMBERS.items(), strict=True):
        x, z = of.format("raw"), of.format("r")
        wanted = raw.execute(
            f"SELECT sum(({x} - {z}) ** 2) / (var_pop({x}) * count(*)), "
            f"avg(abs({x} - {z})) / (sqrt(2) * stddev({x})) FROM raw JOIN r USING (rid)"
        ).fetchall()[0]
        assert row[0] == name.strip('"').replace('""', '"')
        assert row[1:] == pytest.approx(wanted)


def test_means_need_no_id(raw):
    made(raw, "mean")
    with_id, without = found(raw), found(raw, ", format := 'mean'")
    assert [row[2] for row in without] == [None] * 4
    assert [row[1] for row in without] == pytest.approx([row[1] for row in with_id], rel=1e-3)
    assert [row[1:] for row in found(raw, "")] == [(None, None)] * 4  # of an unknown format
    made(raw, "median")
    for form in ("'mean'", "'median'", "NULL"):
        assert [row[1] for row in found(raw, f", format := {form}")[:2]] == [None, None]


def test_medians_are_no_means_by_chance(con):
    """The medians of 1, 1, 2 and of 1, 2, 2 have the mean of all six values."""
    con.execute("CREATE TABLE raw AS SELECT * FROM (VALUES (1, 1), (2, 1), (3, 2), "
                "(4, 1), (5, 2), (6, 2)) AS t(rid, v)")  # fmt: skip
    con.execute("CREATE TABLE classed AS SELECT *, (rid - 1) // 3 AS c FROM raw")
    con.execute("CREATE TABLE r AS FROM generalize('classed', k := 3, quasi := ['v'], "
                "classes := 'c', keep := ['rid'], format := 'median')")  # fmt: skip
    by_rows = found(con, ", id := 'rid'", ["v"])
    assert by_rows[0][1] == pytest.approx(4 / 3)
    for form in ("'median'", "NULL"):
        assert found(con, f", format := {form}", ["v"]) == [("v", None, None)]
    said = fails(con, "FROM value_loss('raw', 'r', quasi := ['v'], format := 'label')")
    assert "format must be one of 'mean', 'median', 'midpoint'" in said


def test_suppressed_values_lose_all_their_variance(raw):
    raw.execute("CREATE TABLE parts AS SELECT *, if(rid < 60, rid // 10, NULL) AS c FROM raw")
    raw.execute("CREATE TABLE r AS FROM generalize('parts', k := 5, quasi := ['x'], classes := 'c', "
                "keep := ['rid', '*'], format := 'mean')")  # fmt: skip
    (wanted,) = raw.execute(
        "SELECT sum((raw.x - coalesce(r.x, m)) ** 2) / sum((raw.x - m) ** 2) "
        "FROM raw JOIN r USING (rid), (SELECT avg(x) AS m FROM raw)"
    ).fetchall()[0]
    assert found(raw, ", id := 'rid'", ["x"])[0][1] == pytest.approx(wanted)
    raw.execute("DELETE FROM r WHERE x IS NULL")
    assert found(raw, ", id := 'rid'", ["x"])[0][1] == pytest.approx(wanted)
    assert found(raw, ", format := 'mean'", ["x"]) == [("x", None, None)]
    raw.execute("DELETE FROM r")
    assert found(raw, ", id := 'rid'", ["x"])[0][1] == pytest.approx(1)


def test_a_constant_column_and_nulls(con):
    con.execute("CREATE TABLE raw AS SELECT 3 AS c, if(i < 10, NULL, i) AS n, i AS rid "
                "FROM range(40) r(i)")  # fmt: skip
    con.execute("CREATE TABLE r AS FROM mondrian('raw', k := 10, quasi := ['c', 'n'], "
                "keep := ['rid', '*'], format := 'mean')")  # fmt: skip
    assert found(con, ", id := 'rid'", ["c"]) == [("c", None, None)]
    ((_, share, away),) = found(con, ", id := 'rid'", ["n"])
    assert 0 < share < 1
    assert 0 < away < 1


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (", id := 'ride'", "id must name a column of the raw table and of the release"),
        (", id := 'w'", "id must identify rows, got w with NULLs or repeats"),
    ],
)
def test_an_id_that_cannot_be(raw, more, said):
    made(raw, "mean")
    assert said in fails(raw, f"FROM value_loss('raw', 'r', quasi := {QUASI}{more})")


def test_other_releases(raw):
    made(raw, "label")
    said = fails(raw, "FROM value_loss('raw', 'r', quasi := ['x', 'w'])")
    assert said.startswith("value_loss: a release must show one value of each class, got labels")
    made(raw, "mean")
    raw.execute("UPDATE r SET rid = 5000 WHERE rid = 3")
    said = fails(raw, "FROM value_loss('raw', 'r', quasi := ['x'], id := 'rid')")
    assert "id must identify rows, got a released rid that the raw table lacks" in said
