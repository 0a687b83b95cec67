"""Numbers, dates and times as the DOUBLEs that their distances are taken of."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.exact import approximate, exact

Floats = npt.NDArray[np.float64]
_MICRO = {"s": 10**6, "ms": 10**3}  # TIMESTAMP_NS and TIME_NS are counted in nanoseconds
_EXACT = 2**53  # whole numbers up to here are DOUBLEs


def points(sql_type: str, values: pa.Array) -> Floats:
    """Return half of each value as a DOUBLE, float64[n], so that no difference overflows.

    Dates count days, all other times micro- or nanoseconds. Arbitrary for NULL.
    """
    return doubles(sql_type, values) / 2


def doubles(sql_type: str, values: pa.Array) -> Floats:
    """Return each number, or count of days, micro- or nanoseconds, as the nearest DOUBLE,
    float64[n]; arbitrary for NULL."""
    if pa.types.is_floating(values.type) or pa.types.is_uint64(values.type):
        return approximate(sql_type, values)
    high, low = exact(sql_type, values)
    if not pa.types.is_decimal(values.type):
        unit = getattr(values.type, "unit", "us")
        return (high * (1 if pa.types.is_date(values.type) else _MICRO.get(unit, 1))).astype(
            np.float64
        )
    scale = values.type.scale
    if low is None and (scale == 0 or (scale <= 22 and np.abs(high).max(initial=0) <= _EXACT)):
        near: Floats = high / 10.0**scale if scale else high.astype(np.float64)
        return near
    if low is None:
        whole = [int(x) for x in high]
    else:  # two halves: the upper is signed, or without its top bit; see ``exact``
        unsigned = sql_type.startswith("UHUGE")
        upper = high.view(np.uint64) ^ np.uint64(1 << 63) if unsigned else high
        lower = low.view(np.uint64) ^ np.uint64(1 << 63)
        whole = [(int(h) << 64) + int(x) for h, x in zip(upper, lower, strict=True)]
    return np.array([x / 10**scale for x in whole], dtype=np.float64)
