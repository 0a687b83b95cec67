"""oka on real data: k, where the published code falls below it, and no row lost."""

import pytest

from tests.conftest import QUASI
from tests.oracles import gcp, sizes


@pytest.mark.parametrize(
    "k", [5, 100, *(pytest.param(k, marks=pytest.mark.slow) for k in (10, 25, 50))]
)
def test_adult_satisfies_k_and_loses_no_row(adult, k):
    adult.execute(f"CREATE TABLE r AS FROM oka('adult', k := {k})")
    found = sizes(adult, "r", QUASI)
    assert min(found) >= k
    assert sum(found) == 30_162


def test_loss_on_adult(adult):
    adult.execute("CREATE TABLE r AS FROM oka('adult', k := 10)")
    assert gcp(adult, "adult", "r", QUASI) <= 0.11


def test_another_seed_begins_elsewhere(people):
    releases = {
        tuple(sorted(people.execute(f"FROM oka('people', seed := {seed})").fetchall(), key=str))
        for seed in (1, 1, 2)
    }
    assert len(releases) == 2
