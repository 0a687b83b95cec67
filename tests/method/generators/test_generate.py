"""generate returns as many records as wanted, none of them real, or raises."""

import numpy as np
import pytest

from anon_sql.core import stopping
from anon_sql.errors import AnonError
from anon_sql.methods.generators.bootstrap import Attribute, RealRows
from anon_sql.methods.sdka import GENERATORS, generate
from tests.method.generators.tables import RARE, held, made

pytestmark = pytest.mark.quick


def test_as_many_as_wanted_in_the_order_of_the_values():
    real = made()
    records = generate("sdka", "bootstrap", real, {RARE: 30, 0: 20}, 42, 1)
    assert records.shape == (50, 4)
    assert records.dtype == np.int32
    assert held(real, records)[:, 3].tolist() == [RARE] * 30 + [0] * 20
    assert generate("sdka", "bootstrap", real, {}, 42, 1).shape == (0, 4)


def test_no_record_is_a_real_row():
    """Few values in few columns, so that most mixtures are real rows."""
    word = np.array([0, 0, 1, 1, 2, 2, 0, 1])
    other = np.array([0, 1, 0, 1, 0, 1, 2, 2])
    real = RealRows([Attribute("w", word), Attribute("o", other), Attribute("s", word * 0)], 2)
    records = generate("sdka", "bootstrap", real, {0: 40}, 42, 1)
    assert set(map(tuple, held(real, records).tolist())) == {(2, 2, 0)}  # the one that is not real
    assert not real.new(np.repeat(np.arange(8, dtype=np.int32)[:, None], 3, axis=1)).any()


def test_where_every_mixture_is_real():
    words = np.arange(4)
    real = RealRows([Attribute("w", words // 2), Attribute("s", words % 2)], 1)
    with pytest.raises(AnonError) as raised:
        generate("sdka", "bootstrap", real, {0: 1500}, 42, 1)
    assert str(raised.value) == (
        "sdka: 1,500 synthetic records of a value must differ from every real row, got 0 that do; "
        "leave fewer columns, or use generator := 'ctgan'"
    )


def test_ctrl_c(monkeypatch):
    def stopped(function):
        raise AnonError(function, "stopped on request")

    monkeypatch.setattr("anon_sql.methods.sdka.check", stopped)
    with pytest.raises(AnonError, match="stopped on request"):
        generate("sdka", "bootstrap", made(), {RARE: 3}, 42, 1)
    assert stopping.check("sdka") is None


def test_the_generators_there_are():
    assert list(GENERATORS) == ["ctgan", "bootstrap"]
