"""Cut values to bins before rows are partitioned, so that a release shows bins instead of values.

Bins are half-open, and begin at multiples of their width. Bins of dates and timestamps are counted
from Monday, 3 January 2000, as by ``time_bucket``. A label shows the ends of bins. For whole
numbers and dates, the upper end is the last value of the bin. For other types, whose values are not
counted one by one, it is the beginning of the next bin. If a type ends within a bin, so does the
bin.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.arrow import integers, plain, valid
from anon_sql.core.columns import approximate, comparable, halves, is_number, require_finite
from anon_sql.core.common_parameters import pairs_of
from anon_sql.core.labels.reading import Ranges
from anon_sql.core.labels.types import AVERAGES
from anon_sql.core.parameters import ColumnWeights, kind, param
from anon_sql.errors import AnonError, Argument, Parameter, Words

_SECOND_PARTS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}  # of a second
_UNITS = {"TIMESTAMP_S": "s", "TIMESTAMP_MS": "ms", "TIMESTAMP_NS": "ns", "TIME_NS": "ns"}
_ORIGIN = 10959  # days from 1970 to Monday, 3 January 2000
_DAY = 86400
_FIRST_SECOND, _FIRST_NANOSECOND = (
    -9223372022400,
    -9223286400 * 10**9,
)  # the first timestamps, in s and in ns
_FLOATS = ("FLOAT", "DOUBLE")
_MAX_FLOAT_BINS = {
    "FLOAT": 2.0**20,
    "DOUBLE": 2.0**50,
}  # from 0 to a value


@dataclass(frozen=True)
class BinWidth:
    """How coarse values are before they are released."""

    bin_width: Any = param(
        None,
        ColumnWeights(),
        "width of the bins to which quasi-identifiers are cut before rows are grouped, such as "
        + Argument("bin_width", {"age": 5})
        + ", in days for dates and in seconds for times; labels then show the ends of bins",
        null="none",
    )


class Bins(NamedTuple):
    """The bins of n values, in the type of the column.

    low: the first value of each bin.
    high: the last one, or the beginning of the next bin.
    """

    low: pa.Array
    high: pa.Array


def read_bin_widths(
    function: str, raw: object, quasi: Mapping[str, str], form: str
) -> dict[str, Decimal]:
    """Return the width of bins of each quasi-identifier that a call names.

    Raises AnonError for anything but names and numbers, for columns that are not shown as ranges,
    and for widths that the type of the column does not have.

    raw: a mapping or pairs of names and numbers; None for none.
    quasi: SQL types by name.
    form: the format.
    """
    widths = {}
    for name, value in pairs_of(function, "bin_width", {"age": 5}, raw, list(quasi)):
        number = isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
        if not number or not isfinite(value) or value <= 0:
            rule = Parameter("bin_width") + " must be finite numbers above 0"
            raise AnonError(function, rule, f"{kind(value)} for {name}")
        if not is_number(function, name, quasi[name]):
            rule = Parameter("bin_width") + " must be of numbers, dates or times"
            raise AnonError(function, rule, f"{name}, which is text", "use a hierarchy for it")
        width = Decimal(repr(value) if isinstance(value, float) else value)
        unit_width = _unit(quasi[name])
        if unit_width and Fraction(width) % unit_width:
            unit = Decimal(unit_width.numerator) / Decimal(unit_width.denominator)
            rule = Parameter("bin_width") + f" of {name} must be multiples of {unit:f}"
            raise AnonError(function, rule, kind(value))
        widths[name] = width
    if widths and form in AVERAGES:
        raise AnonError(
            function,
            Argument("format", form) + " shows none of the ranges that bins need",
            None,
            "use " + Argument("format", "label"),
        )
    return widths


def refuse_bins(function: str, rule: str | Words, got: str) -> NoReturn:
    """Raise AnonError if bins do not apply; rule: what bin_width must."""
    raise AnonError(
        function,
        Parameter("bin_width") + " must " + rule,
        got,
        "round the values of the table instead",
    )


def _unit(sql_type: str) -> Fraction | None:
    """Return the smallest step of a type, in days or seconds; None for floating point."""
    if sql_type in _FLOATS:
        return None
    if sql_type.startswith("DECIMAL("):
        return Fraction(1, 10 ** _precision(sql_type)[1])
    if sql_type.startswith("TIME"):
        return Fraction(1, _SECOND_PARTS[_UNITS.get(sql_type, "us")])
    return Fraction(1)


def _precision(sql_type: str) -> tuple[int, int]:
    """Return the digits of a decimal, and how many of them follow the point."""
    width, scale = sql_type[len("DECIMAL(") : -1].split(",")
    return int(width), int(scale)


def cut(function: str, name: str, sql_type: str, values: pa.Array, step: Decimal) -> Bins:
    """Return the bins in which values lie; NULL stays NULL.

    Raises AnonError for NaN and infinity, and for a step that is too short for floating point.
    """
    values = _counted(plain(values))
    require_finite(function, name, values)
    if pa.types.is_floating(values.type):
        return _cut_floats(function, name, sql_type, values, step)
    length, origin, last = Fraction(step), 0, 0
    if pa.types.is_decimal(values.type):
        length *= 10**values.type.scale
        last = int(values.type.scale == 0)
    elif pa.types.is_date(values.type):
        origin, last = _ORIGIN, 1
    elif pa.types.is_temporal(values.type):
        length *= _SECOND_PARTS[values.type.unit]
        timed = pa.types.is_timestamp(values.type)
        origin = _ORIGIN * _DAY * _SECOND_PARTS[values.type.unit] if timed else 0
    else:
        last = 1
    if length.denominator != 1:
        rule = Parameter("bin_width") + f" of {name} must be multiples of the unit of its values"
        raise AnonError(function, rule, f"{step:f}")
    bounds = _bounds(sql_type, values.type)
    low, high = _spans(_units(sql_type, values), int(length), last, *bounds, origin)
    return Bins(_like(low, values), _like(high, values))


def _counted(values: pa.Array) -> pa.Array:
    """Return values whose type holds numbers of units in 64 bits, or in a smaller integer."""
    if pa.types.is_time32(values.type):
        return values.cast(pa.time64("us"))
    return values.cast(pa.date32()) if pa.types.is_date64(values.type) else values


def _bounds(sql_type: str, stored: pa.DataType) -> tuple[int, int]:
    """Return the outermost values of a type, in its units."""
    if pa.types.is_decimal(stored):
        if sql_type == "UHUGEINT":
            return 0, 2**128 - 1
        hugeint = not sql_type.startswith("DECIMAL(")
        largest = 2**127 - 1 if hugeint else 10 ** _precision(sql_type)[0] - 1
        return -largest - hugeint, largest
    if pa.types.is_integer(stored):
        limits = np.iinfo(stored.to_pandas_dtype())
        return int(limits.min), int(limits.max)
    if pa.types.is_date(stored):
        return 2 - 2**31, 2**31 - 2
    parts = _SECOND_PARTS[stored.unit]
    if pa.types.is_time(stored):
        return 0, _DAY * parts
    first = _FIRST_NANOSECOND if stored.unit == "ns" else _FIRST_SECOND * parts
    return first, min(2**63 - 2, (2**63 - 2) * parts // 10**6)


def _span(
    key: int, length: int, last: int, first: int, final: int, origin: int = 0
) -> tuple[int, int]:
    """Return the ends of the bin of a number.

    last: 1 if the bin ends with its last number, 0 if with the next bin.
    first, final: the least and the largest value of the type.
    origin: a number with which a bin begins.
    """
    low = key - (key - origin) % length
    return max(low, first), min(low + length - last, final)


def _spans(
    keys: npt.NDArray[Any], length: int, last: int, least: int, most: int, origin: int
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the ends of the bin of each number as ``_span`` does."""
    if keys.dtype == object or length >= 2**63:
        spans = [_span(key, length, last, least, most, origin) for key in keys.tolist()]
        ends = np.array(spans, keys.dtype).reshape(-1, 2)
        return ends[:, 0], ends[:, 1]
    wide = keys.astype(np.uint64 if keys.dtype == np.uint64 else np.int64)
    whole = wide.dtype.type
    step, first, final = whole(length), whole(least), whole(most)
    offset = np.mod(wide, step)
    if origin % length:
        offset = np.mod(offset - whole(origin % length), step)
    low, high = wide - offset, wide + (step - offset - whole(last))
    low = np.where(low > wide, first, np.maximum(low, first))  # above: it is beyond 64 bits
    high = np.where(high < wide, final, np.minimum(high, final))
    return low.astype(keys.dtype), high.astype(keys.dtype)


def _units(sql_type: str, values: pa.Array) -> npt.NDArray[Any]:
    """Return values as numbers of units, integers of 64 bits or less, else Python's; 0 for NULL."""
    if pa.types.is_decimal(values.type):
        lower, upper = halves(values)
        if sql_type.startswith("DECIMAL(") and _precision(sql_type)[0] <= 18:
            return lower.view(np.int64)
        above = upper.view(np.uint64) if sql_type == "UHUGEINT" else upper
        numbers = np.empty(len(lower), object)
        numbers[:] = [h << 64 | low for h, low in zip(above.tolist(), lower.tolist(), strict=True)]
        return numbers
    if pa.types.is_temporal(values.type):
        values = values.view(pa.int32() if values.type.bit_width == 32 else pa.int64())
    keys: npt.NDArray[Any] = integers(values)
    return keys


def _like(keys: npt.NDArray[Any], values: pa.Array) -> pa.Array:
    """Return numbers of units as values of the type of others, NULL where these are."""
    present = valid(values)
    if not pa.types.is_decimal(values.type):
        return pa.array(keys, mask=~present).view(values.type)
    if keys.dtype == object:
        bits = b"".join((key % 2**128).to_bytes(16, "little") for key in keys.tolist())
    else:
        bits = np.column_stack([keys, keys >> 63]).tobytes()
    kind = pa.decimal128(values.type.precision, values.type.scale)
    validity = pa.array(present).buffers()[1]
    return pa.Array.from_buffers(kind, len(keys), [validity, pa.py_buffer(bits)])


def _cut_floats(function: str, name: str, sql_type: str, values: pa.Array, step: Decimal) -> Bins:
    """Return the bins of floating point numbers, whose ends are the numbers nearest to them."""
    single = approximate(sql_type, values).astype(values.type.to_pandas_dtype())
    numbers, present = single.astype(np.float64), valid(values)
    ratio = Fraction(step)
    whole = max(ratio.numerator, ratio.denominator) <= 2**53
    times, parts = (
        (float(ratio.numerator), float(ratio.denominator)) if whole else (float(step), 1.0)
    )
    if times == 0 or (np.abs(numbers[present]) / _MAX_FLOAT_BINS[sql_type] > times / parts).any():
        rule = (
            Parameter("bin_width") + f" of {name} must be wide enough for {sql_type} to tell apart"
        )
        raise AnonError(function, rule, "a narrower one", "cast the column to DECIMAL")
    most = np.finfo(single.dtype).max

    def end_values(place: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
        with np.errstate(over="ignore"):
            ends = (place * times / parts).astype(single.dtype)
        clipped: npt.NDArray[Any] = np.clip(ends, -most, most) + single.dtype.type(0)  # no -0.0
        return clipped

    place = np.floor(np.where(present, numbers, 0) / times * parts)
    place = (
        place
        - (end_values(place) > single)
        + (end_values(place + 1) <= single) * (end_values(place + 1) < most)
    )
    return Bins(
        *(pa.array(end_values(end), values.type, mask=~present) for end in (place, place + 1))
    )


def require_ends(function: str, name: str, sql_type: str, cut: Bins, labels: Ranges) -> None:
    """Raise AnonError for labels whose ends are not ends of bins.

    cut: the bins of the values.
    labels: the labels, as they are read.
    """
    shown = ~labels.star & ~labels.empty
    wrong = np.zeros(len(shown), np.bool_)
    for ends, bin_ends in ((labels.low, cut.low), (labels.high, cut.high)):
        keys, bins = comparable(sql_type, [ends, bin_ends])
        wrong |= shown & ~np.isin(keys, bins[valid(bin_ends)])
    if count := int(wrong.sum()):
        raise AnonError(
            function,
            "labels must show the ends of bins",
            f"{count} of {name} that {'does' if count == 1 else 'do'} not",
            "nothing was released; please report this",
        )
