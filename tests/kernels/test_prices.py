"""The price of each run of rows is that of its shortfall, counted afresh."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from anon_sql.kernels.legality import shortfalls
from anon_sql.kernels.prices import shortfall_prices
from tests.drawing import examples
from tests.kernels.legal import asked, made

pytestmark = pytest.mark.quick


@examples(150)
@given(asked(), st.integers(1, 6), st.randoms(use_true_random=False))
def test_the_price_of_each_run(drawn, k, random):
    rows, how = drawn
    rules = made(rows, how).rules
    assume(rules is not None and len(rows) >= k)
    order = np.array(random.sample(range(len(rows)), len(rows)), np.int32)
    priced = np.array([random.random() < 0.7 for _ in rules.total])
    prices = shortfall_prices(rules, order, k, 0.5, priced)
    assert prices.shape == (k, len(rows))
    for extra in range(k):
        for start in range(len(rows)):
            run = order[start : start + k + extra]
            short = 0.0
            for attribute in np.flatnonzero(priced) if len(run) == k + extra else []:
                alone = {
                    name: getattr(rules, name)[attribute : attribute + 1]
                    for name in "keys value non_null ordered table_counts total below area".split()
                }
                last = rules.persons and attribute == len(rules.total) - 1
                bounds = {
                    name: getattr(rules, name)[attribute : attribute + 1] if not last else none
                    for name, none in (("least", np.zeros((1, 0))), ("most", np.zeros((1, 0))))
                }
                own = rules._replace(
                    **alone, **bounds, persons=last, k=rules.k if last else 1, pairs=rules.pairs
                )
                short += shortfalls(own, np.sort(run), np.array([0, len(run)]))[0]
            assert prices[extra, start] == pytest.approx(0.5 * short / (k + extra), rel=1e-5)
