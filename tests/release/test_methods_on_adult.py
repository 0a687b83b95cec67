"""Every method on Adult: k, no row lost, and no more loss than the known implementation."""

import pytest

import anon_sql
from tests.conftest import COMPLETE, QUASI
from tests.oracles import gcp, sizes

NUMERIC = ["age", "fnlwgt", "capital_gain", "capital_loss", "hours_per_week"]
ROWS = 30_162
# GCP at most, mostly that of the Python peer (of k_member k nearest neighbours, which give none at
# k = 5); where it is none, the loss is asked for elsewhere.
LOSS = {
    ("canon", "", "numeric"): {5: None, 100: None, 10: None, 25: None, 50: None},
    ("k_member", "", "mixed"): {5: 0.0483, 100: 0.3138},
    ("mondrian", "partitioning := 'strict'", "mixed"): {5: 0.0938, 25: 0.1722, 100: 0.2767},
    ("mondrian", "partitioning := 'relaxed'", "mixed"): {5: 0.0985, 25: 0.2008, 100: 0.3381},
    ("mondrian", "partitioning := 'strict'", "numeric"): {5: 0.0260, 25: 0.0624, 100: 0.1110},
    ("mondrian", "partitioning := 'relaxed'", "numeric"): {5: 0.0376, 25: 0.0838, 100: 0.1656},
    ("mondrian_cof", "", "mixed"): {5: None, 100: None},
    ("mondrian_cof", "repair := 'merge'", "mixed"): {5: None, 100: None},
    ("mondrian_cof", "distance := 'codes', partitioning := 'relaxed'", "mixed"): {
        5: None,
        100: None,
    },
    ("oka", "", "mixed"): {5: None, 10: 0.11, 100: None, 25: None, 50: None},
    ("rayden", "", "mixed"): {5: None, 25: None, 100: None},
    ("rayden", "cut := 'aligned', repair := 'merge'", "mixed"): {10: None},
    ("top_down", "", "mixed"): {100: 0.3030, 5: 0.0417},
}
SLOW = {  # the same again with another k, or by another column
    *(("canon", k) for k in (10, 25, 50)),
    *(("oka", k) for k in (25, 50)),
    *(("rayden", k) for k in (25, 100)),
    ("top_down", 5),
}
SLOW_CALLS = {
    ("mondrian", "partitioning := 'relaxed'", "mixed"),
    ("mondrian", "partitioning := 'strict'", "numeric"),
}


@pytest.fixture(scope="module")
def con(shared_data):
    """Adult with nothing declared."""
    with anon_sql.connect() as made:
        made.execute(f"CREATE TABLE adult AS FROM '{shared_data}/adult.parquet' WHERE {COMPLETE}")
        yield made


@pytest.mark.parametrize(
    ("method", "options", "columns", "k"),
    [
        pytest.param(
            *(*call, k),
            marks=[pytest.mark.long] * ((call[0], k) in SLOW or call in SLOW_CALLS),
        )
        for call, losses in LOSS.items()
        for k in losses
    ],
)
def test_each_class_has_k_rows_and_no_row_is_lost(con, method, options, columns, k):
    quasi = QUASI if columns == "mixed" else NUMERIC
    given = f"k := {k}, quasi := {quasi}, keep := ['*']" + f", {options}" * bool(options)
    con.execute(f"CREATE OR REPLACE TABLE r AS FROM {method}('adult', {given})")
    found = sizes(con, "r", quasi)
    assert min(found) >= k
    assert sum(found) == ROWS
    most = LOSS[method, options, columns][k]
    if most is not None:
        ((loss,),) = con.execute(f"SELECT gcp('adult', 'r', quasi := {quasi})").fetchall()
        assert loss <= most
    if (method, k) == ("mondrian", 100):
        assert gcp(con, "adult", "r", quasi) == pytest.approx(loss)
