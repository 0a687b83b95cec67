"""One column as arrays: exact keys and scaled numbers, or the codes of its sorted values.

Keys are int64 and keep the order of the values exactly, so that a class's smallest and
largest value are found without rounding, for a 128-bit integer as for a date.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.arrow import integers, valid
from anon_sql.errors import AnonError

NULL_POINT = 3.0  # a scaled NULL: further than 1 from every number, so its distance is cut to 1
_MICROSECONDS = {"s": 1e6, "ms": 1e3, "us": 1.0, "ns": 1e-3}
_TOP = np.uint64(1 << 63)
_TEXT = ("VARCHAR", "BOOLEAN", "ENUM", "UUID")
_NUMBERS = (
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
    *("DECIMAL", "FLOAT", "DOUBLE", "DATE", "TIME", "TIMESTAMP", "TIME_NS"),
    *("TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"),
)


def is_number(function: str, name: str, sql_type: str) -> bool:
    """Whether a quasi-identifier becomes a range (True) or a set (False), else AnonError."""
    base = sql_type.split("(")[0]
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


Column = Numbers | Categories


def categories(name: str, values: pa.Array) -> Categories:
    """Codes by the values' order in bytes, so that no code depends on the order of the rows."""
    if pa.types.is_boolean(values.type):
        values = pc.if_else(values, "true", "false")
    coded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
    indices = integers(coded.indices.cast(pa.int32())).astype(np.int32)
    present = valid(coded)
    words = coded.dictionary.cast(pa.large_string())
    used = np.zeros(len(words), dtype=np.bool_)
    used[indices[present]] = True
    order = integers(pc.sort_indices(words))
    order = order[used[order]]
    rank = np.full(len(words) + 1, len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    codes = np.where(present, rank[indices], np.int32(len(order))).astype(np.int32)
    return Categories(name, codes, words.take(pa.array(order)))


def numbers(function: str, name: str, sql_type: str, values: pa.Array) -> Numbers:
    """Keys and scaled numbers. Raises AnonError for NaN and infinity, with their count."""
    present = valid(values)
    high, low, approximate = wide(sql_type, values)
    strange = ~np.isfinite(approximate) & present
    if pa.types.is_temporal(values.type) and not pa.types.is_time(values.type):
        limit = np.iinfo(np.int32 if pa.types.is_date32(values.type) else np.int64).max
        strange |= (np.abs(high) == limit) & present
    if strange.any():
        raise AnonError(
            function,
            f"{name} must hold finite values",
            f"{int(strange.sum())} that are NaN or infinite",
            "make them NULL or leave the rows out",
        )
    keys = high if low is None else _ranks(high, low)
    within = approximate[present]
    if len(within) == 0:
        return Numbers(name, keys, np.full(len(keys), NULL_POINT), present, 0.0)
    least, most = within.min(), within.max()
    with np.errstate(over="ignore"):
        width = most - least
        if not np.isfinite(width):
            approximate, least, width = approximate / 4, least / 4, most / 4 - least / 4
    points = (approximate - least) / width if width > 0 else np.zeros(len(keys))
    width = float(width) * microseconds(values.type)
    return Numbers(name, keys, np.where(present, points, NULL_POINT), present, width)


def microseconds(kind: pa.DataType) -> float:
    """How many microseconds the unit of a time is; 1 for all that is none, dates too."""
    timed = pa.types.is_timestamp(kind) or pa.types.is_time(kind)
    return _MICROSECONDS[kind.unit] if timed else 1.0


def wide(
    sql_type: str, values: pa.Array
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64] | None, npt.NDArray[np.float64]]:
    """Exact value as one int64 key, or as a pair (high, low) of them, and as a float64.

    The pair is needed beyond 64 bits; both halves compare as signed integers.
    """
    kind = values.type
    if pa.types.is_decimal(kind):
        pairs = np.frombuffer(values.buffers()[1], dtype=np.uint64)
        pairs = pairs[2 * values.offset : 2 * (values.offset + len(values))].reshape(-1, 2)
        bits, upper = pairs[:, 0], pairs[:, 1].view(np.int64)
        present = valid(values)
        bits, upper = np.where(present, bits, np.uint64(0)), np.where(present, upper, 0)
        unsigned = sql_type.startswith("UHUGE")
        top = upper.view(np.uint64).astype(np.float64) if unsigned else upper.astype(np.float64)
        approximate = (top * 2.0**64 + bits) / 10.0**kind.scale
        if not unsigned and np.array_equal(upper, bits.view(np.int64) >> 63):
            return bits.view(np.int64), None, approximate
        high = (upper.view(np.uint64) ^ _TOP).view(np.int64) if unsigned else upper
        return high, (bits ^ _TOP).view(np.int64), approximate
    if pa.types.is_floating(kind):
        floats = values.fill_null(0).to_numpy(zero_copy_only=False).astype(np.float64) + 0.0
        bits = floats.view(np.int64)
        return np.where(bits < 0, bits ^ np.int64(2**63 - 1), bits), None, floats
    if pa.types.is_uint64(kind):
        large = integers(values)
        return (large ^ _TOP).view(np.int64), None, large.astype(np.float64)
    if pa.types.is_temporal(kind):
        values = values.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    exact = integers(values).astype(np.int64)
    return exact, None, exact.astype(np.float64)


def _ranks(high: npt.NDArray[np.int64], low: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Dense ranks of 128-bit values."""
    order = np.lexsort((low, high))
    changed = (np.diff(high[order]) != 0) | (np.diff(low[order]) != 0)
    ranks: npt.NDArray[np.int64] = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.concatenate(([0], np.cumsum(changed))) if len(order) else []
    return ranks
