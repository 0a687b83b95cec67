"""Microaggregation by ``anonymize``: less is lost within classes than by MDAV, with every promise."""

import numpy as np
import pyarrow as pa
import pytest

from anon_sql.kernels.microaggregation import mdav, points_of
from anon_sql.methods.microaggregation import sum_of_squares

pytestmark = pytest.mark.quick

COLUMNS = [f"c{at}" for at in range(5)]


def skewed(rows, seed):
    """Standardized columns of a skewed size that all of them depend on."""
    pick = np.random.default_rng(seed)
    x = np.exp(pick.normal(size=(rows, 1)) + 0.7 * pick.normal(size=(rows, len(COLUMNS))))
    return (x - x.mean(axis=0)) / x.std(axis=0)


def stored(con, x, name="t"):
    table = pa.table({**dict(zip(COLUMNS, x.T, strict=True)), "rid": np.arange(len(x))})
    con.register("made", table)
    con.execute(f"CREATE OR REPLACE TABLE {name} AS SELECT *, rid % 7 AS s FROM made")
    con.unregister("made")


def released(con, more="", form="mean", name="t"):
    call = f"'{name}', k := 5, quasi := {COLUMNS}, keep := ['rid', 's'], format := '{form}' {more}"
    rows = con.execute(f"SELECT {', '.join(COLUMNS)}, rid FROM anonymize({call})").fetchall()
    shown = np.array(sorted(rows, key=lambda row: row[-1]))[:, :-1]
    return shown, np.unique(shown, axis=0, return_inverse=True)[1].reshape(-1)


@pytest.mark.slow
def test_less_is_lost_than_by_mdav(con):
    x = skewed(400, 1)
    stored(con, x)
    points = points_of(x)
    lost = [sum_of_squares(points, mdav(points, 5))]
    for effort in ("'fast'", "'good'", "'best', rounds := 2"):
        shown, classes = released(con, f", effort := {effort}")
        lost.append(((x - shown) ** 2).sum())
        assert lost[-1] == pytest.approx(sum_of_squares(points, classes))
        sizes = np.bincount(classes)
        assert 5 <= sizes.min() <= sizes.max() <= 9
    assert lost == sorted(lost, reverse=True)


def test_it_depends_on_neither_order_nor_threads(con):
    stored(con, skewed(2500, 2))  # more than a piece
    first, _ = released(con)
    con.execute("CREATE TABLE mixed AS FROM t ORDER BY hash(rid)")
    con.execute("SET threads = 1")
    assert (released(con, name="mixed")[0] == first).all()
    con.execute("RESET threads")


def test_nulls_stay_among_themselves(con):
    stored(con, skewed(120, 3))
    con.execute("UPDATE t SET c1 = NULL WHERE rid % 10 = 0")
    call = f"'t', k := 5, quasi := {COLUMNS}, keep := ['rid', 's'], format := 'mean'"
    found = con.execute(f"SELECT count(*) FROM anonymize({call}) WHERE c1 IS NULL").fetchall()
    assert found == [(12,)]


@pytest.mark.parametrize("more", [", sensitive := 's', l := 3", ", sensitive := 's', t := 0.4"])
def test_with_l_and_t(con, more):
    stored(con, skewed(150, 4))
    quasi = ["c0", "c1"]
    call = f"'t', k := 5, quasi := {quasi}, keep := ['rid', '*'] {more}, format := 'median'"
    con.execute(f"CREATE TABLE r AS FROM anonymize({call})")
    bound = more.split("'s', ")[1]
    (row,) = con.execute(
        f"SELECT passed FROM audit('t', 'r', k := 5, quasi := {quasi}, sensitive := 's', "
        f"{bound}) WHERE property = '{bound[0]}'"
    ).fetchall()
    assert row == (True,)


def test_labels_are_the_same_classes_as_before(con):
    """The format decides which loss is least; labels still go by NCP."""
    stored(con, skewed(200, 5))
    call = f"'t', k := 5, quasi := {COLUMNS}, keep := ['rid', 's']"
    con.execute(f"CREATE TABLE r AS FROM anonymize({call})")
    con.execute(f"CREATE TABLE m AS FROM anonymize({call}, format := 'mean')")
    lost = "SELECT gcp('t', '{}', quasi := {})"
    assert con.execute(lost.format("r", COLUMNS)).fetchall()[0][0] > 0
    shown = con.execute(
        f"SELECT count(DISTINCT struct_pack({', '.join(COLUMNS)})) FROM m"
    ).fetchall()
    assert shown[0][0] <= 40
