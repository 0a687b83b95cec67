"""CANON on Adult's five numeric columns."""

import numpy as np
import pytest

from tests.oracles import gcp, sizes

NUMERIC = ["age", "fnlwgt", "capital_gain", "capital_loss", "hours_per_week"]
KEEP = ["education_num", "workclass", "marital_status", "occupation", "race", "sex"]
CALL = f"FROM canon('adult', k := {{}}, seed := {{}}, quasi := {NUMERIC}, keep := ['*'])"


@pytest.fixture
def numeric(adult):
    """Adult with nothing declared: here other columns are the quasi-identifiers."""
    adult.execute("CREATE TABLE plain AS SELECT * EXCLUDE (fnlwgt), fnlwgt FROM adult")
    adult.execute("DROP TABLE adult")
    adult.execute("ALTER TABLE plain RENAME TO adult")
    return adult


def test_loss_and_class_size_on_adult(numeric):
    losses, averages = [], []
    for seed in range(1, 6):
        numeric.execute(f"CREATE OR REPLACE TABLE r AS {CALL.format(10, seed)}")
        losses.append(gcp(numeric, "adult", "r", NUMERIC))
        averages.append(30_162 / len(sizes(numeric, "r", NUMERIC)) / 10)
    measured = f"SELECT gcp('adult', 'r', quasi := {NUMERIC}), cavg('adult', 'r', k := 10, quasi := {NUMERIC})"
    assert numeric.execute(measured).fetchall()[0] == pytest.approx((losses[-1], averages[-1]))
    assert np.mean(losses) <= 0.037
    assert np.mean(averages) < 1.5
