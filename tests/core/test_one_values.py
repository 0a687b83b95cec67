"""The mean and the lower median of classes, beside those of Python, and their check."""

import datetime as dt
import statistics
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_sql.core.labels.one_value import misplaced, one_values, typed_values
from anon_sql.kernels.hashing import group
from tests.drawing import examples

pytestmark = pytest.mark.quick

WHOLE = {
    "TINYINT": st.integers(-128, 127),
    "BIGINT": st.integers(-(2**63), 2**63 - 1),
    "UBIGINT": st.integers(0, 2**64 - 1),
    "HUGEINT": st.integers(-(2**126), 2**126),
    "DECIMAL(9, 2)": st.decimals(-9999999, 9999999, places=2),
    "DECIMAL(30, 3)": st.decimals(-(10**26), 10**26, places=3),
}
FLOATS = {
    "FLOAT": st.floats(allow_nan=False, allow_infinity=False, width=32),
    "DOUBLE": st.floats(allow_nan=False, allow_infinity=False),
}
ARROW = {
    "TINYINT": pa.int8(),
    "BIGINT": pa.int64(),
    "UBIGINT": pa.uint64(),
    "HUGEINT": pa.decimal128(38, 0),
    "DECIMAL(9, 2)": pa.decimal128(9, 2),
    "DECIMAL(30, 3)": pa.decimal128(30, 3),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us"),
    "TIME": pa.time64("us"),
    "TIMESTAMP_S": pa.timestamp("s"),
}
EPOCH = dt.datetime(1, 1, 1)
TIMES = {  # type, values, and the unit that means are rounded to, in microseconds
    "DATE": (st.dates(), 86_400_000_000),
    "TIMESTAMP": (st.datetimes(), 1),
    "TIMESTAMP_S": (st.datetimes().map(lambda x: x.replace(microsecond=0)), 1_000_000),
    "TIME": (st.times(), 1),
}


def shown(kind, rows, form):
    """The printed value of each class, by class, cast to its type; rows: (class, value)."""
    values = pa.array([value for _, value in rows], ARROW[kind])
    _, classes = np.unique([c for c, _ in rows], return_inverse=True)
    classes = classes.astype(np.int32)
    order, starts = group(classes, int(classes.max()) + 1)
    texts = one_values(kind, values, order, starts, False, form)
    star, wrong = misplaced(kind, values, texts, np.arange(len(texts)), classes, form)
    assert wrong == 0
    assert star.tolist() == [text is None for text in texts.to_pylist()]
    found = typed_values(texts, kind, form).to_pylist()
    return dict(zip(sorted({c for c, _ in rows}), found, strict=True))


def drawn(values):
    return st.lists(st.tuples(st.integers(0, 3), st.none() | values), min_size=1, max_size=20)


def by_class(rows):
    held = {}
    for c, value in rows:
        held.setdefault(c, []).append(value)
    return held


def micro(value):
    """A date or time in microseconds."""
    if isinstance(value, dt.time):
        value = dt.datetime.combine(EPOCH, value)
    if not isinstance(value, dt.datetime):
        value = dt.datetime.combine(value, dt.time())
    return (value - EPOCH) // dt.timedelta(microseconds=1)


@pytest.mark.parametrize("kind", [*WHOLE, *FLOATS])
def test_the_mean_of_numbers(kind):
    @examples(50)
    @given(drawn({**WHOLE, **FLOATS}[kind]))
    def check(rows):
        found = shown(kind, rows, "mean")
        for c, values in by_class(rows).items():
            if None in values:
                assert found[c] is None
                continue
            exact = sum(map(Fraction, values)) / len(values)
            size = max(abs(Fraction(value)) for value in values)
            assert isinstance(found[c], float)
            assert abs(Fraction(found[c]) - exact) <= size / 10**14
            if len(set(values)) == 1:
                assert found[c] == pytest.approx(float(values[0]), rel=1e-15)

    check()


@pytest.mark.parametrize("kind", TIMES)
def test_the_mean_of_times_is_rounded_to_their_unit(kind):
    values, unit = TIMES[kind]

    @examples(50)
    @given(drawn(values))
    def check(rows):
        found = shown(kind, rows, "mean")
        for c, held in by_class(rows).items():
            if None in held:
                assert found[c] is None
                continue
            assert type(found[c]) is type(held[0])
            exact = Fraction(sum(map(micro, held)), len(held))
            assert abs(micro(found[c]) - exact) <= Fraction(unit, 2)

    check()


@pytest.mark.parametrize("kind", [*WHOLE, *FLOATS, *TIMES])
def test_the_median_is_a_value_of_the_class(kind):
    values = {**WHOLE, **FLOATS, **{name: draw for name, (draw, _) in TIMES.items()}}[kind]

    @examples(50)
    @given(drawn(values))
    def check(rows):
        found = shown(kind, rows, "median")
        for c, held in by_class(rows).items():
            assert found[c] == (None if None in held else statistics.median_low(held))

    check()
