"""Columns as arrays: exact keys, points and codes."""

import decimal
from fractions import Fraction
from math import copysign

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anon_sql.core.columns import (
    NULL_POINT,
    categories,
    comparable,
    distinct_rows,
    gaps,
    numbers,
)
from tests.drawing import examples

pytestmark = pytest.mark.quick

WIDE = {  # SQL type: Arrow type, smallest and largest value
    "TINYINT": (pa.int8(), -(2**7), 2**7 - 1),
    "BIGINT": (pa.int64(), -(2**63), 2**63 - 1),
    "UBIGINT": (pa.uint64(), 0, 2**64 - 1),
    "DECIMAL(18,3)": (pa.decimal128(18, 3), -(10**18) + 1, 10**18 - 1),
    "DECIMAL(38,10)": (pa.decimal128(38, 10), -(10**38) + 1, 10**38 - 1),
    "HUGEINT": (pa.decimal128(38, 0), -(2**127), 2**127 - 1),
    "UHUGEINT": (pa.decimal128(38, 0), 0, 2**128 - 1),
}


def array(values, kind):
    """Unscaled integers and None as an Arrow array, 128-bit values in their two halves."""
    if not pa.types.is_decimal(kind):
        return pa.array(values, kind)
    given = [(value or 0) % 2**128 for value in values]
    halves = np.array([[v % 2**64, v >> 64] for v in given], dtype=np.uint64).reshape(-1)
    bits = np.packbits([value is not None for value in values], bitorder="little")
    buffers = [pa.py_buffer(bits.tobytes()), pa.py_buffer(halves.tobytes())]
    return pa.Array.from_buffers(kind, len(values), buffers)


@st.composite
def columns(draw):
    sql_type = draw(st.sampled_from(list(WIDE)))
    _, least, most = WIDE[sql_type]
    near = draw(st.integers(least, most))
    value = st.one_of(
        st.none(),
        st.integers(least, most),
        st.integers(max(least, near - 5), min(most, near + 5)),
        st.sampled_from([least, most]),
    )
    return sql_type, draw(st.lists(value, min_size=1, max_size=8))


@examples(300)
@given(columns())
@example(("HUGEINT", [-1, 1, None]))
@example(("UHUGEINT", [2**127, 2**127 - 1]))
@example(("DECIMAL(38,10)", [-15_000_000_000, 20_000_000_000]))
def test_keys_and_points_are_exact(column):
    sql_type, values = column
    kind = WIDE[sql_type][0]
    made = numbers("test", "v", sql_type, array(values, kind))
    known = [value for value in values if value is not None]
    assert made.present.tolist() == [value is not None for value in values]
    for i, a in enumerate(values):
        for j, b in enumerate(values):
            if a is not None and b is not None:
                assert (made.keys[i] < made.keys[j]) is np.bool_(a < b)
    width = max(known) - min(known) if known else 0
    scale = kind.scale if pa.types.is_decimal(kind) else 0
    assert made.width == pytest.approx(float(Fraction(width, 10**scale)), rel=1e-15)
    for value, point in zip(values, made.points, strict=True):
        if value is None:
            assert point == NULL_POINT
        else:
            exact = Fraction(value - min(known), width) if width else 0
            assert point == pytest.approx(float(exact), rel=1e-15)


@examples(300)
@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.none(), min_size=1, max_size=8)
)
@example([1.7e308, -1.7e308, 0.0])
@example([5e-324, 0.0])
@example([0.0, -0.0])
def test_floats_keep_their_order(values):
    made = numbers("test", "v", "DOUBLE", pa.array(values, pa.float64()))
    assert np.isfinite(made.width)
    assert made.present.tolist() == [value is not None for value in values]
    known = [(v, copysign(1, v)) for v in values if v is not None]  # -0.0 comes before 0.0
    keys, points = made.keys[made.present].tolist(), made.points[made.present]
    assert [known.index(value) for value in sorted(known)] == [keys.index(k) for k in sorted(keys)]
    assert ((points >= 0) & (points <= 1)).all()
    assert (made.points[~made.present] == NULL_POINT).all()


@examples(300)
@given(columns(), st.integers(0, 8), st.integers(0, 8))
@example(("HUGEINT", [-(2**127), -1, None, 0, 2**127 - 1]), 2, 4)
@example(("UHUGEINT", [0, 2**127, 2**128 - 1, 2**63]), 1, 2)
def test_keys_of_several_arrays_compare(column, first, second):
    sql_type, values = column
    cuts = sorted([first, second])
    parts = [values[: cuts[0]], values[cuts[0] : cuts[1]], values[cuts[1] :]]
    parts = [part for part in parts if part]
    made = comparable(sql_type, [array(part, WIDE[sql_type][0]) for part in parts])
    assert [len(keys) for keys in made] == [len(part) for part in parts]
    known = [
        (value, key)
        for value, key in zip(values, np.concatenate(made), strict=True)
        if value is not None
    ]
    for a, near in known:
        for b, far in known:
            assert (a < b, a == b) == (near < far, near == far)


@examples(200)
@given(columns())
def test_gaps_are_the_distances(column):
    sql_type, values = column
    kind = WIDE[sql_type][0]
    if sql_type == "UHUGEINT":  # Arrow does not tell it from HUGEINT
        return
    other = values[::-1]
    found = gaps(array(values, kind), array(other, kind))
    scale = kind.scale if pa.types.is_decimal(kind) else 0
    spread = max((v for v in values if v is not None), default=0)
    spread -= min((v for v in values if v is not None), default=0)
    for a, b, gap in zip(values, other, found, strict=True):
        if a is None or b is None:
            assert np.isnan(gap)
        else:
            near = float(Fraction(spread, 10**scale)) * 1e-15
            assert gap == pytest.approx(float(Fraction(abs(a - b), 10**scale)), abs=near)


@pytest.mark.parametrize("bits", [32, 64])
def test_narrow_decimals_of_later_arrow_versions(bits):
    if not hasattr(pa, f"decimal{bits}"):
        pytest.skip("this pyarrow has no narrow decimals")
    kind = getattr(pa, f"decimal{bits}")(9, 2)
    values = pa.array([decimal.Decimal("-0.05"), None, decimal.Decimal("1.25")], kind)
    made = numbers("test", "v", "DECIMAL(9,2)", values)
    assert made.width == 1.3
    assert made.keys[made.present].tolist() == [-5, 125]


@examples(200)
@given(st.lists(st.text(max_size=3) | st.none(), max_size=8))
def test_codes_follow_the_bytes(values):
    made = categories("v", pa.array(values, pa.string()))
    words = sorted({value for value in values if value is not None}, key=str.encode)
    assert made.values.to_pylist() == words
    expected = [len(words) if value is None else words.index(value) for value in values]
    assert made.codes.tolist() == expected


@pytest.mark.parametrize(("rows", "columns"), [(0, 2), (1, 1), (60, 1), (400, 3)])
def test_distinct_rows_are_those_of_numpy(rows, columns):
    values = np.random.default_rng(rows).integers(-3, 4, (rows, columns)).astype(np.float64)
    first, number = distinct_rows("f", values)
    known, first_of, of_row = np.unique(values, axis=0, return_index=True, return_inverse=True)
    assert np.array_equal(values[first], known)
    assert np.array_equal(first, first_of)
    assert np.array_equal(number, of_row.reshape(-1))
