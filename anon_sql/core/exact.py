"""Convert numbers to exact int64 keys in the order of the values, and to the nearest float64.

sql_type is needed only to recognize UHUGEINT, which DuckDB sends as a decimal.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.arrow import integers, plain, valid

_TOP = np.uint64(1 << 63)


def exact(
    sql_type: str, values: pa.Array
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64] | None]:
    """Return keys in the order of the values, as (high, low), int64[n] each.

    low is None if 64 bits suffice. Otherwise keys compare by high and then by low, both as signed
    integers.
    """
    values = plain(values)
    kind = values.type
    if pa.types.is_decimal(kind):
        bits, upper = _halves(values)
        unsigned = sql_type.startswith("UHUGE")
        if not unsigned and np.array_equal(upper, bits.view(np.int64) >> 63):
            return bits.view(np.int64), None
        return _beneath(upper) if unsigned else upper, _beneath(bits.view(np.int64))
    if pa.types.is_floating(kind):
        bits = approximate(sql_type, values).view(np.int64)
        return np.where(bits < 0, bits ^ np.int64(2**63 - 1), bits), None
    if pa.types.is_uint64(kind):
        return (integers(values) ^ _TOP).view(np.int64), None
    if pa.types.is_temporal(kind):
        values = values.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    return integers(values).astype(np.int64), None


def comparable(sql_type: str, sides: Sequence[pa.Array]) -> list[npt.NDArray[np.int64]]:
    """Return int64 keys of each array, in the order of the values of all arrays together."""
    halves = [exact(sql_type, side) for side in sides]
    if all(low is None for _, low in halves):
        return [high for high, _ in halves]
    high = np.concatenate([high >> 63 if low is None else high for high, low in halves])
    low = np.concatenate([_beneath(high) if low is None else low for high, low in halves])
    ends = np.cumsum([len(side) for side in sides])
    return np.split(ranks(high, low), ends[:-1])


def _beneath(keys: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the low halves, as ``exact`` defines them, of 64-bit keys widened to 128 bits."""
    return (keys.view(np.uint64) ^ _TOP).view(np.int64)


def approximate(sql_type: str, values: pa.Array) -> npt.NDArray[np.float64]:
    """Return the nearest float64 of each value; 0 for NULL."""
    values = plain(values)
    kind = values.type
    if pa.types.is_decimal(kind):
        bits, upper = _halves(values)
        unsigned = sql_type.startswith("UHUGE")
        if not unsigned and np.array_equal(upper, bits.view(np.int64) >> 63):
            near: npt.NDArray[np.float64] = bits.view(np.int64) / 10.0**kind.scale
            return near
        below = np.zeros(len(bits), dtype=np.bool_) if unsigned else upper < 0
        top = np.where(below, ~upper + (bits == 0), upper).view(np.uint64)
        far = top * 2.0**64 + np.where(below, ~bits + np.uint64(1), bits)
        signed: npt.NDArray[np.float64] = np.where(below, -far, far) / 10.0**kind.scale
        return signed
    if pa.types.is_temporal(kind):
        values = values.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    floats: npt.NDArray[np.float64] = integers(values).astype(np.float64)
    return floats


def _halves(values: pa.Array) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """Return the lower and the upper 64 bits of decimals; 0 for NULL."""
    if values.type.bit_width < 128:
        values = values.cast(pa.decimal128(38, values.type.scale))
    pairs = np.frombuffer(values.buffers()[1], dtype=np.uint64)
    pairs = pairs[2 * values.offset : 2 * (values.offset + len(values))].reshape(-1, 2)
    bits, upper, present = pairs[:, 0], pairs[:, 1].view(np.int64), valid(values)
    return np.where(present, bits, np.uint64(0)), np.where(present, upper, 0)


def ranks(high: npt.NDArray[np.int64], low: npt.NDArray[np.int64] | None) -> npt.NDArray[np.int64]:
    """Return int64 keys in the order of (high, low): high if low is None, else dense ranks."""
    if low is None:
        return high
    order = np.lexsort((low, high))
    changed = (np.diff(high[order]) != 0) | (np.diff(low[order]) != 0)
    dense: npt.NDArray[np.int64] = np.empty(len(order), dtype=np.int64)
    dense[order] = np.concatenate(([0], np.cumsum(changed))) if len(order) else []
    return dense
