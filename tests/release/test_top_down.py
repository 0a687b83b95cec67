"""top_down on real data: k, no row lost, and less loss than the known implementation."""

import pytest

from tests.conftest import QUASI
from tests.oracles import gcp, sizes

PEER = {5: 0.0417, 100: 0.3030}  # GCP of the Python peer


@pytest.mark.parametrize("k", [pytest.param(5, marks=pytest.mark.slow), 100])
def test_adult_satisfies_k_and_loses_less_than_the_peer(adult, k):
    adult.execute(f"CREATE TABLE r AS FROM top_down('adult', k := {k})")
    found = sizes(adult, "r", QUASI)
    assert min(found) >= k
    assert sum(found) == 30_162
    assert gcp(adult, "adult", "r", QUASI) <= PEER[k]


def test_another_seed_splits_otherwise(people):
    releases = {
        tuple(
            sorted(people.execute(f"FROM top_down('people', seed := {seed})").fetchall(), key=str)
        )
        for seed in (1, 1, 2)
    }
    assert len(releases) == 2
