"""One column as arrays: exact keys and scaled numbers, or the codes of its sorted values.

Keys are int64 and keep the order of the values exactly, so that a class's smallest and
largest value are found without rounding, for a 128-bit integer as for a date.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.arrow import integers, valid
from anon_sql.errors import AnonError
from anon_sql.exact import approximate, exact, ranks

NULL_POINT = 3.0  # a scaled NULL: further than 1 from every number, so its distance is cut to 1
_MICROSECONDS = {"s": 1e6, "ms": 1e3, "us": 1.0, "ns": 1e-3}
_TEXT = ("VARCHAR", "BOOLEAN", "ENUM", "UUID")
_NUMBERS = (
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
    *("DECIMAL", "FLOAT", "DOUBLE", "DATE", "TIME", "TIMESTAMP", "TIME_NS"),
    *("TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"),
)


def is_number(function: str, name: str, sql_type: str) -> bool:
    """Whether a quasi-identifier becomes a range (True) or a set (False), else AnonError."""
    base = sql_type.split("(", maxsplit=1)[0]
    if not sql_type.endswith("]"):
        if base in _NUMBERS:
            return True
        if base in _TEXT:
            return False
    raise AnonError(
        function,
        "a quasi-identifier must be a number, a date, a time or text",
        f"{name} of type {sql_type}",
        "leave it out of qids or cast it",
    )


@dataclass(frozen=True)
class Numbers:
    """A numeric column: keys int64[n], points float64[n] in [0, 1], present bool[n].

    width: largest less smallest value (days for dates, microseconds for times).
    """

    name: str
    keys: npt.NDArray[np.int64]
    points: npt.NDArray[np.float64]
    present: npt.NDArray[np.bool_]
    width: float


@dataclass(frozen=True)
class Categories:
    """A text column: codes int32[n] into ``values`` (sorted by bytes), NULL is the last code."""

    name: str
    codes: npt.NDArray[np.int32]
    values: pa.Array

    @property
    def null_code(self) -> int:
        return len(self.values)

    @cached_property
    def distinct(self) -> int:
        """How many values the column has, NULL among them."""
        return len(self.values) + bool((self.codes == self.null_code).any())


def categories(name: str, values: pa.Array) -> Categories:
    """Codes by the values' order in bytes, so that no code depends on the order of the rows."""
    from anon_sql.kernels.recoding import recode

    if pa.types.is_boolean(values.type):
        values = pc.if_else(values, "true", "false")
    listed = pa.types.is_dictionary(values.type)  # an ENUM lists values that no row may hold
    coded = values if listed else values.dictionary_encode()
    indices = integers(coded.indices.cast(pa.int32()))
    present = valid(coded) if coded.null_count else np.zeros(0, dtype=np.bool_)
    words = coded.dictionary.cast(pa.large_string())
    order = integers(pc.sort_indices(words))
    if listed:
        used = np.zeros(len(words), dtype=np.bool_)
        used[indices[valid(coded)]] = True
        order = order[used[order]]
    rank = np.full(len(words) + 1, len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    codes = recode(indices, present, rank, np.int32(len(order)))
    return Categories(name, codes, words.take(pa.array(order)))


def numbers(function: str, name: str, sql_type: str, values: pa.Array) -> Numbers:
    """Keys and scaled numbers. Raises AnonError for NaN and infinity, with their count."""
    from anon_sql.kernels.scaling import scaled

    present = valid(values)
    high, low = exact(sql_type, values)
    _require_finite(function, name, values, high, present)
    keys = ranks(high, low)
    unit = 10.0**values.type.scale if pa.types.is_decimal(values.type) else 1.0
    if low is None and not pa.types.is_floating(values.type):
        points, width = scaled(keys, present, NULL_POINT)
    elif not present.any():
        points, width = np.full(len(keys), NULL_POINT), 0.0
    else:
        if low is not None:
            above = _above(high, low, int(np.flatnonzero(present)[np.argmin(keys[present])]))
        else:
            floats = approximate(sql_type, values)
            with np.errstate(over="ignore"):
                above = floats - floats[present].min()
            if np.isinf(above[present]).any():  # wider than the largest DOUBLE
                above, unit = floats / 4 - floats[present].min() / 4, 0.25
        width = float(above[present].max())
        points = np.where(present, above / width if width > 0 else 0.0, NULL_POINT)
    width = min(width / unit, float(np.finfo(np.float64).max)) * microseconds(values.type)
    return Numbers(name, keys, points, present, width)


def _require_finite(
    function: str,
    name: str,
    values: pa.Array,
    keys: npt.NDArray[np.int64],
    present: npt.NDArray[np.bool_],
) -> None:
    """Raise AnonError for NaN and infinity, with their count."""
    if pa.types.is_floating(values.type):
        strange = ~np.isfinite(approximate("", values)) & present
    elif pa.types.is_temporal(values.type) and not pa.types.is_time(values.type):
        limit = np.iinfo(np.int32 if pa.types.is_date32(values.type) else np.int64).max
        strange = (np.abs(keys) == limit) & present
    else:
        return
    if strange.any():
        raise AnonError(
            function,
            f"{name} must hold finite values",
            f"{int(strange.sum())} that are NaN or infinite",
            "make them NULL or leave the rows out",
        )


def _above(
    high: npt.NDArray[np.int64], low: npt.NDArray[np.int64] | None, least: int
) -> npt.NDArray[np.float64]:
    """Each key less the smallest one, which is at ``least``, rounded only when it is known."""
    if low is None:
        near: npt.NDArray[np.float64] = (high - high[least]).view(np.uint64).astype(np.float64)
        return near
    upper = (high - high[least] - (low < low[least])).view(np.uint64).astype(np.float64)
    lower = (low - low[least]).view(np.uint64).astype(np.float64)
    far: npt.NDArray[np.float64] = upper * 2.0**64 + lower
    return far


def numeric_keys(sql_type: str, values: pa.Array) -> npt.NDArray[np.int64]:
    """One key a value, in the order of the values; -0.0 is 0.0."""
    if pa.types.is_floating(values.type):
        values = pc.add(values, pa.scalar(0.0, values.type))
    return ranks(*exact(sql_type, values))


def gaps(left: pa.Array, right: pa.Array) -> npt.NDArray[np.float64]:
    """|left - right| as float64[n], in microseconds for times; NaN where either is NULL.

    Both are numbers of one type, or of two that count the same (not days and microseconds).
    """
    near, far = (approximate("", side) * microseconds(side.type) for side in (left, right))
    if left.type == right.type and not pa.types.is_floating(left.type):
        both = pa.concat_arrays([left, right])
        present = np.flatnonzero(valid(both))
        if len(present):
            high, low = exact("", both)
            keys = ranks(high, low)
            unit = 10.0**both.type.scale if pa.types.is_decimal(both.type) else 1.0
            above = _above(high, low, int(present[np.argmin(keys[present])])) / unit
            near, far = np.split(above * microseconds(both.type), 2)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(valid(left) & valid(right), np.abs(near - far), np.nan)


def microseconds(kind: pa.DataType) -> float:
    """How many microseconds the unit of a time is; 1 for all that is none, dates too."""
    timed = pa.types.is_timestamp(kind) or pa.types.is_time(kind)
    return _MICROSECONDS[kind.unit] if timed else 1.0
