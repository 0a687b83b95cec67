"""Represent a column as arrays: exact keys and scaled numbers, or codes of its sorted values.

Keys are int64 and have exactly the order of the values of every numeric type, 128-bit integers and
timestamps included, so that the smallest and largest value of a class involve no rounding. Scaled
numbers are the nearest float64. The SQL type is needed only to recognize UHUGEINT, which DuckDB
sends as a decimal.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql import kernels
from anon_sql.core.arrow import integers, plain, valid
from anon_sql.core.stopping import check
from anon_sql.errors import AnonError, Parameter

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
        bits, upper = halves(values)
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
        bits, upper = halves(values)
        unsigned = sql_type.startswith("UHUGE")
        if not unsigned and np.array_equal(upper, bits.view(np.int64) >> 63):
            narrow: npt.NDArray[np.float64] = bits.view(np.int64) / 10.0**kind.scale
            return narrow
        negative = np.zeros(len(bits), dtype=np.bool_) if unsigned else upper < 0
        top = np.where(negative, ~upper + (bits == 0), upper).view(np.uint64)
        magnitude = top * 2.0**64 + np.where(negative, ~bits + np.uint64(1), bits)
        signed: npt.NDArray[np.float64] = (
            np.where(negative, -magnitude, magnitude) / 10.0**kind.scale
        )
        return signed
    if pa.types.is_temporal(kind):
        values = values.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    floats: npt.NDArray[np.float64] = integers(values).astype(np.float64)
    return floats


def halves(values: pa.Array) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
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


NULL_POINT = 3.0  # scaled NULL: more than 1 away from every number, and distances are capped at 1
_MICROSECONDS = {"s": 1e6, "ms": 1e3, "us": 1.0, "ns": 1e-3}
_TEXT = ("VARCHAR", "BOOLEAN", "ENUM", "UUID")
_NUMBERS = (
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
    *("DECIMAL", "FLOAT", "DOUBLE", "DATE", "TIME", "TIMESTAMP", "TIME_NS"),
    *("TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"),
)
_HINTS = {  # what to make of a column whose values have no labels
    "BLOB": "decode() makes text of it",
    "BIT": "get_bit() takes one of its bits",
    "INTERVAL": "epoch() makes seconds of it",
    "GEOMETRY": "ST_X() and ST_Y() take the coordinates of a point",
    "UNION": "union_extract() takes one of its members",
    "STRUCT": "struct_extract() takes one of its fields",
    "MAP": "map_extract_value() takes the value of one key",
    "VARIANT": "its values need one type",
    "JSON": "json_extract_string() takes a part of it",
    "BIGNUM": "DOUBLE and DECIMAL hold numbers, too",
    "TIME WITH TIME ZONE": "TIME has no time zone",
}


def is_number(function: str, name: str, sql_type: str) -> bool:
    """Return whether a quasi-identifier is generalized to ranges (True) or to sets (False).

    Raises AnonError for any other SQL type.
    """
    base = sql_type.split("(", maxsplit=1)[0]
    if not sql_type.endswith("]"):
        if base in _NUMBERS:
            return True
        if base in _TEXT:
            return False
    raise AnonError(
        function,
        "a quasi-identifier must be a number, a date, a time or text",
        f"{name} of type {shown_type(sql_type)}",
        "leave it out of " + Parameter("quasi") + " or cast it" + _hint(sql_type),
    )


def _hint(sql_type: str) -> str:
    """Return how to make a column of another type of one that cannot be a quasi-identifier."""
    if sql_type.endswith("]"):
        return "; [1] takes its first element, and list_aggregate() a figure of all"
    hint = _HINTS.get(sql_type.split("(", maxsplit=1)[0])
    return "" if hint is None else f"; {hint}"


def is_nested(sql_type: str) -> bool:
    """Return whether a SQL type is one of lists, structs, maps, unions or variants."""
    return sql_type.endswith("]") or sql_type.startswith(("STRUCT(", "MAP(", "UNION(", "VARIANT"))


def shown_type(sql_type: str) -> str:
    """Return a SQL type as an error may show it: without the values of an ENUM."""
    return re.sub(r"ENUM\(.*?'\)", "ENUM", sql_type, flags=re.DOTALL)


@dataclass(frozen=True)
class Numbers:
    """A column of numbers, dates or times.

    keys: int64[n], in the order of the values.
    points: float64[n], values scaled to [0, 1], NULL_POINT for NULL.
    present: bool[n], not NULL.
    width: largest minus smallest value, in days for dates and in microseconds for times and
        timestamps.
    values: the Arrow values.
    sql_type: their SQL type.
    """

    name: str
    keys: npt.NDArray[np.int64]
    points: npt.NDArray[np.float64]
    present: npt.NDArray[np.bool_]
    width: float
    values: pa.Array = None
    sql_type: str = ""

    @cached_property
    def least(self) -> float:
        """Return the smallest value in the unit of ``width``; 0 without a value."""
        if not self.present.any():
            return 0.0
        row = int(np.flatnonzero(self.present)[np.argmin(self.keys[self.present])])
        value = approximate(self.sql_type, self.values.slice(row, 1))[0]
        return float(value * microseconds(self.values.type))


@dataclass(frozen=True)
class Categories:
    """A column of text, booleans, enums or UUIDs.

    codes: int32[n], indices into ``values``; NULL has the code len(values).
    values: the distinct values as text, sorted by their UTF-8 bytes.
    table_distinct: distinct values of the whole table, if these are not all of its rows.
    """

    name: str
    codes: npt.NDArray[np.int32]
    values: pa.Array
    table_distinct: int | None = None

    @property
    def null_code(self) -> int:
        return len(self.values)

    @cached_property
    def distinct(self) -> int:
        """Return the number of distinct values of the table, counting NULL as one."""
        if self.table_distinct is not None:
            return self.table_distinct
        return len(self.values) + bool((self.codes == self.null_code).any())


def categories(name: str, values: pa.Array) -> Categories:
    """Return a text column encoded by the byte order of its values, not by the order of rows."""
    if pa.types.is_boolean(values.type):
        values = pc.if_else(values, "true", "false")
    is_enum = pa.types.is_dictionary(values.type)  # it may list values that no row has
    coded = values if is_enum else values.dictionary_encode()
    indices = integers(coded.indices.cast(pa.int32()))
    present = valid(coded) if coded.null_count else np.zeros(0, dtype=np.bool_)
    words = coded.dictionary.cast(pa.large_string())
    order = integers(pc.sort_indices(words))
    if is_enum:
        used = np.zeros(len(words), dtype=np.bool_)
        used[indices[valid(coded)]] = True
        order = order[used[order]]
    rank = np.full(len(words) + 1, len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    codes = kernels.hashing.recode(indices, present, rank, np.int32(len(order)))
    return Categories(name, codes, words.take(pa.array(order)))


def numbers(function: str, name: str, sql_type: str, values: pa.Array) -> Numbers:
    """Return the keys and scaled numbers of a column.

    Raises AnonError, with their count, for values that are NaN or infinite.
    """
    present = valid(values)
    high, low = exact(sql_type, values)
    require_finite(function, name, values)
    keys = ranks(high, low)
    unit = 10.0**values.type.scale if pa.types.is_decimal(values.type) else 1.0
    if low is None and not pa.types.is_floating(values.type):
        points, width = kernels.loss.scaled(keys, present, NULL_POINT)
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
    return Numbers(name, keys, points, present, width, values, sql_type)


def require_finite(function: str, name: str, values: pa.Array) -> None:
    """Raise AnonError for NaN and infinity, with their count."""
    count = int((infinite(values) & valid(values)).sum())
    if count:
        raise AnonError(
            function,
            f"{name} must hold finite values",
            f"{count} that are NaN or infinite",
            "make them NULL or leave the rows out",
        )


def infinite(values: pa.Array) -> npt.NDArray[np.bool_]:
    """Return which values are NaN or infinite, bool[n]; arbitrary for NULL."""
    if pa.types.is_floating(values.type):
        return ~np.isfinite(approximate("", values))
    if pa.types.is_temporal(values.type) and not pa.types.is_time(values.type):
        limit = np.iinfo(np.int32 if pa.types.is_date32(values.type) else np.int64).max
        return np.asarray(np.abs(exact("", values)[0]) == limit)
    return np.zeros(len(values), dtype=np.bool_)


def _above(
    high: npt.NDArray[np.int64], low: npt.NDArray[np.int64] | None, lowest: int
) -> npt.NDArray[np.float64]:
    """Return each key minus the smallest one, float64[n].

    The difference is exact; only the result is rounded to float64.

    high, low: int64[n], keys as ``exact`` returns them.
    lowest: position of the smallest key.
    """
    if low is None:
        narrow: npt.NDArray[np.float64] = (high - high[lowest]).view(np.uint64).astype(np.float64)
        return narrow
    upper = (high - high[lowest] - (low < low[lowest])).view(np.uint64).astype(np.float64)
    lower = (low - low[lowest]).view(np.uint64).astype(np.float64)
    wide: npt.NDArray[np.float64] = upper * 2.0**64 + lower
    return wide


def numeric_keys(sql_type: str, values: pa.Array) -> npt.NDArray[np.int64]:
    """Return int64[n] keys in the order of the values; -0.0 has the key of 0.0."""
    return ranks(*exact(sql_type, unsigned(values)))


def unsigned(values: pa.Array) -> pa.Array:
    """Return values with 0.0 for -0.0."""
    if not pa.types.is_floating(values.type):
        return values
    return pc.add(values, pa.scalar(0.0, values.type))


def places(
    sql_type: str, values: pa.Array
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return the keys of ``numeric_keys``, and how many values of the type are below each.

    The numbers are float64[n]. Values below the least of ``values`` are not counted. Values of
    FLOAT are counted as if they were DOUBLE.

    values: at least one, no NULL among them.
    """
    high, low = exact(sql_type, unsigned(values))
    keys = ranks(high, low)
    return keys, _above(high, low, int(np.argmin(keys)))


def gaps(left: pa.Array, right: pa.Array) -> npt.NDArray[np.float64]:
    """Return |left - right| as float64[n], in microseconds for times; NaN where either is NULL.

    left, right: numbers of one type, or of two types whose values have the same unit; a date (in
    days) and a timestamp (in microseconds) do not.
    """
    left_numbers, right_numbers = (
        approximate("", side) * microseconds(side.type) for side in (left, right)
    )
    if left.type == right.type and not pa.types.is_floating(left.type):
        sides = pa.concat_arrays([left, right])
        present = np.flatnonzero(valid(sides))
        if len(present):
            high, low = exact("", sides)
            keys = ranks(high, low)
            unit = 10.0**sides.type.scale if pa.types.is_decimal(sides.type) else 1.0
            above = _above(high, low, int(present[np.argmin(keys[present])])) / unit
            left_numbers, right_numbers = np.split(above * microseconds(sides.type), 2)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(valid(left) & valid(right), np.abs(left_numbers - right_numbers), np.nan)


def microseconds(kind: pa.DataType) -> float:
    """Return the microseconds per unit of a time or timestamp type; 1 for any other type."""
    timed = pa.types.is_timestamp(kind) or pa.types.is_time(kind)
    return _MICROSECONDS[kind.unit] if timed else 1.0


def distinct_rows(
    function: str, columns: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the first of each of u distinct rows, int64[u], and the number of each row, int64[n].

    Distinct rows ascend, by the first column first. As ``numpy.unique`` of rows, in a third of the
    time. Stops on request after each column.

    columns: numbers [n, d].
    """
    number = np.zeros(len(columns), dtype=np.int64)
    for column in columns.T:
        check(function)
        distinct, code = np.unique(column, return_inverse=True)
        _, number = np.unique(number * len(distinct) + code.reshape(-1), return_inverse=True)
        number = number.reshape(-1)
    _, first = np.unique(number, return_index=True)
    return first, number
