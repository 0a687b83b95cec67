"""sdka_stats: its numbers are those of the release, and its losses are worked out by hand."""

import pytest

pytest.importorskip("sklearn", reason="needs the extra ml")

CALL = "k := 5, quasi := ['a', 'w'], sensitive := 's', generator := 'bootstrap'"


@pytest.fixture
def table(con):
    con.execute(
        "CREATE TABLE t AS SELECT i * 37 % 100 AS a, ['x', 'y', 'z'][1 + i % 3] AS w, "
        "if(i % 8 = 0, 'rare', 'other') AS s, i % 11 AS kept FROM range(240) AS r(i)"
    )
    return con


def stats(con, more=""):
    found = con.execute(f"FROM sdka_stats('t', {CALL}{more})")
    names = [name for name, *_ in found.description]
    (row,) = found.fetchall()
    return dict(zip(names, row, strict=True))


def test_the_columns_and_what_was_added(table):
    found = table.sql(f"FROM sdka_stats('t', {CALL})")
    assert found.columns == [
        *("real_rows", "synthetic_rows", "added", "clusters", "merged", "classes"),
        *("smallest_class", "iloss", "gcp"),
    ]
    row = stats(table)
    assert row["real_rows"] == 240
    assert row["synthetic_rows"] == 105 - 30
    assert row["added"] == [{"attribute": "s", "value": "rare", "rows": 75}]
    assert row["smallest_class"] >= 5
    assert 0 < row["clusters"] <= 240 // 5
    assert row["classes"] <= row["clusters"] - row["merged"]


def test_losses_are_those_of_the_labels(table):
    """Of a release without added rows, whose labels can be held against its table."""
    more = ", target_ratio := 100"
    table.execute(f"CREATE TABLE r AS FROM sdka('t', {CALL}, keep := ['*']{more})")
    row = stats(table, more)
    assert row["synthetic_rows"] == 0
    assert row["added"] == []
    (measured,) = table.execute("SELECT gcp('t', 'r', quasi := ['a', 'w'])").fetchall()[0]
    assert row["gcp"] == pytest.approx(measured, rel=1e-12)
    iloss = 0.0
    for a, w in table.execute("SELECT a, w FROM r").fetchall():
        low, _, high = a.strip("[]").partition(", ")
        iloss += (int(high or low) - int(low)) / 99 + w.startswith("{")
    assert row["iloss"] == pytest.approx(iloss, rel=1e-12)
    centre = stats(table, more + ", numbers := 'centre'")
    assert (centre["gcp"], centre["iloss"]) == (row["gcp"], row["iloss"])


def test_heights_of_nodes(table):
    """Every class of one row is a leaf; dominant := 1 takes words one of two levels up."""
    table.execute(
        "CREATE TABLE h AS FROM (VALUES ('w', 'x', 1, 'xy'), ('w', 'y', 1, 'xy'), ('w', 'z', 1, 'Z'), "
        "('w', 'x', 2, '*'), ('w', 'y', 2, '*'), ('w', 'z', 2, '*')) AS r(attribute, value, level, label)"
    )
    more = ", target_ratio := 100, dominant := 1, hierarchy := 'h'"
    table.execute(f"CREATE TABLE r AS FROM sdka('t', {CALL}, keep := ['*']{more})")
    iloss = 0.0
    for a, w in table.execute("SELECT a, w FROM r").fetchall():
        low, _, high = a.strip("[]").partition(", ")
        iloss += (int(high or low) - int(low)) / 99 + {"xy": 0.5, "Z": 0.5, "*": 1.0}[w]
    assert stats(table, more)["iloss"] == pytest.approx(iloss, rel=1e-12)
