"""The bootstrap generator is repeatable, preserves dependencies, and works from a single row."""

import numpy as np
import pytest

from anon_sql.methods.generators.bootstrap import Attribute, Bootstrap, RealRows
from tests.method.generators.tables import RARE, held, made

pytestmark = pytest.mark.quick


def test_the_seed_decides():
    real = made()
    first = Bootstrap("sdka", real, 1, 1).draw(RARE, 50, 0)
    assert np.array_equal(first, Bootstrap("sdka", real, 1, 1).draw(RARE, 50, 0))
    assert not np.array_equal(first, Bootstrap("sdka", real, 2, 1).draw(RARE, 50, 0))
    assert not np.array_equal(first, Bootstrap("sdka", real, 1, 1).draw(RARE, 50, 1))


def test_records_are_like_the_rows_that_have_the_value():
    """The word 0 is four times as frequent there; the mean age is ten years higher."""
    real = made(4000)
    own = real.columns[3].codes == RARE
    records = Bootstrap("sdka", real, 3, 1).draw(RARE, 3000, 0)
    codes = held(real, records)
    assert (codes[:, 3] == RARE).all()
    zero = (codes[:, 2] == 0).mean()
    assert (real.columns[2].codes[~own] == 0).mean() + 0.2 < zero
    age = real.columns[0].numbers
    middle = np.nanmean(age[records[:, 0]])
    assert np.nanmean(age[~own]) + 2 < middle < np.nanmean(age[own]) + 1


def test_values_of_one_record_come_from_several_rows():
    records = Bootstrap("sdka", made(), 3, 1).draw(RARE, 100, 0)
    assert (records != records[:, :1]).any(axis=1).mean() > 0.5


def test_a_value_of_one_row():
    """Its other values come from rows that have another sensitive value."""
    numbers = np.arange(20)
    own = (numbers == 7).astype(np.int64)
    columns = [Attribute("n", numbers, numbers * 1.0), Attribute("m", numbers), Attribute("s", own)]
    real = RealRows(columns, 2)
    records = Bootstrap("sdka", real, 3, 1).draw(1, 200, 0)
    assert (records[:, 2] == 7).all()
    assert real.new(records).any()


def test_the_nearest_row_is_the_mate():
    """Two groups far apart: no record mixes them but for the values that are free."""
    far = np.repeat([0, 1], 50)
    numbers = far * 1000.0 + np.tile(np.arange(50), 2)
    codes = np.arange(100)
    real = RealRows(
        [
            Attribute("far", far),
            Attribute("x", codes, numbers),
            Attribute("y", codes, numbers),
            Attribute("s", far * 0),
        ],
        3,
    )
    records = Bootstrap("sdka", real, 4, 1).draw(0, 2000, 0)
    mixed = far[records[:, 0]] != far[records[:, 1]]
    assert mixed.mean() < 0.15  # at most one of the two is free in 19 %, and half of those mix
