"""The rows nearest to each row of a small table do not depend on how NumPy sorts."""

import numpy as np
import pytest

from anon_sql.methods.searching_few import RANDOM_ROWS, near_rows
from tests.oracles import table_of

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("rows", [2, 5, 40, 120])
def test_of_equally_near_rows_the_first_are_taken(rows):
    points = np.random.default_rng(rows).integers(0, 3, (rows, 2)) / 2  # many are equal
    found = near_rows(table_of(points))
    apart = np.abs(points[:, None] - points).sum(axis=2)
    for row, near in enumerate(found[:, :-RANDOM_ROWS]):
        others = [other for other in range(rows) if other != row]
        nearest = sorted(others, key=lambda other: (apart[row, other], other))
        assert near.tolist() == nearest[: len(near)]
        assert len(near) > 0
