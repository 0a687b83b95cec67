"""The CTGAN generator: its error where it is missing, its records where it is installed."""

import sys

import numpy as np
import pytest

from anon_sql.errors import AnonError
from anon_sql.methods.generators.bootstrap import Attribute, RealRows
from anon_sql.methods.generators.ctgan import Ctgan, _row_of
from anon_sql.methods.sdka import generate
from tests.method.generators.tables import RARE, held, made

pytestmark = pytest.mark.slow


def installed():
    return pytest.importorskip("ctgan", reason="needs the extra ctgan")


def test_the_missing_extra_is_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "ctgan", None)
    with pytest.raises(AnonError) as raised:
        generate("sdka", "ctgan", made(), {RARE: 1}, 42, 1)
    assert str(raised.value) == (
        "sdka: generator := 'ctgan' needs the extra ctgan, got no package ctgan; "
        "pip install 'anon-sql[ctgan]', or use generator := 'bootstrap'"
    )


def test_a_number_becomes_the_nearest_real_one():
    numbers = np.array([5.0, np.nan, 1.0, 9.0, 5.0])
    column = Attribute("n", np.array([1, 3, 0, 2, 1]), numbers)
    made_up = pd_series([-7, 1.4, 2.9, 3.1, 6.9, 7.1, 99])
    assert _row_of(column, made_up).tolist() == [2, 2, 2, 0, 0, 3, 3]
    words = Attribute("w", np.array([4, 2, 4, 7]))
    assert _row_of(words, pd_series(["7", "2", "4"])).tolist() == [3, 1, 0]


def pd_series(values):
    import pandas as pd

    return pd.Series(values)


def test_records_of_the_real_one():
    installed()
    real = made(600)
    records = generate("sdka", "ctgan", real, {RARE: 40, 0: 5}, 42, 2)
    assert records.shape == (45, 4)
    assert held(real, records)[:, 3].tolist() == [RARE] * 40 + [0] * 5
    assert real.new(records).all()
    assert not np.isnan(real.columns[0].numbers[records[:, 0]]).any()


def test_the_seed_decides_and_nobody_elses_numbers_change():
    installed()
    import torch

    real = made(300)
    torch.manual_seed(1)
    np.random.seed(1)
    wanted = (torch.rand(1).item(), np.random.random())
    torch.manual_seed(1)
    np.random.seed(1)
    first = generate("sdka", "ctgan", real, {RARE: 20}, 42, 1)
    assert (torch.rand(1).item(), np.random.random()) == wanted
    assert np.array_equal(first, generate("sdka", "ctgan", real, {RARE: 20}, 42, 1))
    assert not np.array_equal(first, generate("sdka", "ctgan", real, {RARE: 20}, 43, 1))


def test_progress_counts_epochs_and_ctrl_c_stops_it(monkeypatch):
    installed()
    counted = []

    def stopped(function):
        counted.append(function)
        if len(counted) == 2:
            raise AnonError(function, "stopped on request")

    monkeypatch.setattr("anon_sql.methods.generators.ctgan.check", stopped)
    with pytest.raises(AnonError, match="sdka: stopped on request"):
        Ctgan("sdka", made(300), 42, 50)
    assert counted == ["sdka", "sdka"]


def test_a_column_of_nulls_and_one_of_one_value():
    installed()
    real = made(300)
    none = Attribute("none", np.zeros(300, np.int64), np.full(300, np.nan))
    same = Attribute("same", np.zeros(300, np.int64), np.full(300, 4.0))
    more = RealRows([none, same, *real.columns], 5)
    records = generate("sdka", "ctgan", more, {RARE: 10}, 42, 1)
    assert records.shape == (10, 6)
