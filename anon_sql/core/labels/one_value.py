"""Compute, print and verify the one value that a class shows in place of a range."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core.arrow import valid
from anon_sql.core.columns import approximate, exact, numeric_keys
from anon_sql.core.labels.types import type_of
from anon_sql.core.printing import cast, printed

_EXACT = 2.0**53  # whole numbers below it are exact as DOUBLE
Bools = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def shows_values(released: pa.Array) -> bool:
    """Return whether the classes of a column of numbers show one value each, not labels."""
    kinds = pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_temporal
    return any(is_kind(released.type) for is_kind in kinds)


def one_values(
    sql_type: str, values: pa.Array, order: Codes, starts: Ints, suppressed: bool, form: str
) -> pa.Array:
    """Return the mean or the lower median of each class as DuckDB prints it, type ``string``.

    NULL for a class that has a NULL, and for the suppressed rows. Means of dates and times are
    rounded to the unit of their type. values: in source order. order, starts, suppressed: as in
    ``Classes``.
    """
    rows = values.take(pa.array(order))
    first = starts[:-1]
    is_null = ~np.logical_and.reduceat(valid(rows), first)
    is_null[-1] |= suppressed
    if form == "median":
        medians = rows.take(pa.array(_middle(sql_type, rows, starts)))
        if pa.types.is_floating(medians.type):  # -0.0 and 0.0 are equal
            medians = pa.array(medians.fill_null(0).to_numpy() + medians.type.to_pandas_dtype()(0))
        return printed([_without(medians, is_null)], [sql_type])[0]
    if pa.types.is_temporal(rows.type):
        low, rest, count = _integer_means(exact(sql_type, rows)[0], starts)
        units = pa.array(low + (2 * rest >= count))
        if rows.type.bit_width == 32:
            units = units.cast(pa.int32())
        return printed([_without(units.view(rows.type), is_null)], [sql_type])[0]
    return printed([_without(pa.array(_means(sql_type, rows, starts)), is_null)], ["DOUBLE"])[0]


def middles(sql_type: str, low: pa.Array, high: pa.Array) -> tuple[pa.Array, int]:
    """Return the middle of each range as DuckDB prints it, and how many of them are false.

    A middle is the mean of the two ends, NULL if they are NULL. It is true if what was printed lies
    as far above one end as below the other.
    """
    range_ids = np.arange(len(low), dtype=np.int32)
    ends, order = (
        pa.concat_arrays([low, high]),
        np.column_stack([range_ids, range_ids + len(low)]).reshape(-1),
    )
    starts = np.arange(0, len(order) + 1, 2)
    texts = one_values(sql_type, ends, order.astype(np.int32), starts, False, "mean")
    null, ends_of_false = misplaced(
        sql_type, ends, texts, range_ids, np.append(range_ids, range_ids), "mean"
    )
    missing = int((null != ~valid(low)).sum())
    return texts, missing + ends_of_false // 2


def typed_values(texts: pa.Array, sql_type: str, form: str) -> pa.Array:
    """Return printed means or medians in their own type."""
    return cast([texts], [type_of(sql_type, form)])[0]


def _without(values: pa.Array, is_null: npt.NDArray[np.bool_]) -> pa.Array:
    """Return values with NULL where ``is_null``."""
    return pc.if_else(pa.array(~is_null), values, pa.scalar(None, values.type))


def _middle(sql_type: str, rows: pa.Array, starts: Ints) -> Ints:
    """Return the row with the lower median of each class; rows: class by class."""
    class_of = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    ranked = np.lexsort((numeric_keys(sql_type, rows), class_of))
    chosen: Ints = ranked[starts[:-1] + (np.diff(starts) - 1) // 2]
    return chosen


class _IntegerMeans(NamedTuple):
    """Per class, the mean rounded down, the remainder of the sum, and the rows."""

    floors: Ints
    rest: Ints
    sizes: Ints


def _integer_means(keys: Ints, starts: Ints) -> _IntegerMeans:
    """Return the mean of each class rounded down, the remainder of its sum, and its rows.

    The sum of differences from the smallest key is kept in two halves, so that nothing overflows.
    """
    first, count = starts[:-1], np.diff(starts)
    least = np.minimum.reduceat(keys, first)
    above = (keys - np.repeat(least, count)).view(np.uint64)
    high = np.add.reduceat(above >> np.uint64(32), first)
    low = np.add.reduceat(above & np.uint64(2**32 - 1), first)
    share = count.astype(np.uint64)
    low += (high % share) << np.uint64(32)
    quotient = ((high // share) << np.uint64(32)) + low // share
    means = np.asarray(least + quotient.view(np.int64), np.int64)
    return _IntegerMeans(means, (low % share).astype(np.int64), count)


def _means(sql_type: str, rows: pa.Array, starts: Ints) -> Floats:
    """Return the mean of each class of numbers, between its smallest and its largest value."""
    keys, low = exact(sql_type, rows)
    unit = 10.0**rows.type.scale if pa.types.is_decimal(rows.type) else 1.0
    unsigned = pa.types.is_uint64(rows.type)
    if low is None and not unsigned and not pa.types.is_floating(rows.type):
        floors, rest, count = _integer_means(keys, starts)
        near = np.abs(floors.astype(np.float64)) < _EXACT / np.maximum(count, 1) - 1
        total = np.where(near, floors, 0) * count + rest
        means: Floats = np.where(near, total / (count * unit), floors / unit + rest / count / unit)
        return means
    floats, first, count = approximate(sql_type, rows), starts[:-1], np.diff(starts)
    # sorted, since a sum of DOUBLEs depends on the order
    floats = floats[np.lexsort((floats, np.repeat(np.arange(len(count)), count)))]
    least, most = (end.reduceat(floats, first) for end in (np.minimum, np.maximum))
    with np.errstate(over="ignore", invalid="ignore"):
        above = np.add.reduceat(floats - np.repeat(least, count), first) / count
        wide = np.add.reduceat(floats / np.repeat(count, count), first)
        return np.clip(np.where(np.isfinite(above), least + above, wide), least, most) + 0.0


ROUNDING = 1e-9


def misplaced(
    sql_type: str, values: pa.Array, texts: pa.Array, label_of: Codes, classes: Codes, form: str
) -> tuple[Bools, int]:
    """Return which labels are NULL, bool[u], and how many values are in a class with a false one.

    A label is true if it is NULL, or no value is NULL and it is the mean of the class, whose
    deviations add up to 0, or its lower median. texts: the printed labels; classes: int32[n], the
    class of each row, the number of labels or more for a row that is not counted.
    """
    count, counted = len(label_of), classes < len(label_of)
    if not counted.all():
        values, classes = values.filter(pa.array(counted)), classes[counted]
    labels = typed_values(texts, sql_type, form)
    malformed = valid(texts) & ~valid(labels)
    of_row = labels.take(pa.array(label_of[classes]))
    sizes = np.bincount(classes, minlength=count)
    true = _is_mean if form == "mean" else _is_median
    present = valid(labels)[label_of]
    false = present & ~true(sql_type, values, of_row, classes, sizes)
    false |= present & (np.bincount(classes, ~valid(values), count) > 0)
    false |= malformed[label_of]
    return ~valid(texts), int(sizes[false].sum())


def _is_mean(
    sql_type: str, values: pa.Array, labels: pa.Array, classes: Codes, sizes: npt.NDArray[np.int64]
) -> Bools:
    """Return whether deviations from the label add up to 0, up to rounding, bool[m]."""
    if pa.types.is_temporal(values.type):
        away = (exact("", values)[0] - exact("", labels)[0]).astype(np.float64)
        limit = sizes / 2 + ROUNDING * np.bincount(classes, np.abs(away), len(sizes))
    else:
        numbers, mean = approximate(sql_type, values), approximate("DOUBLE", labels)
        unit = float(np.abs(numbers).max(initial=0.0)) or 1.0
        away = numbers / unit - mean / unit
        limit = ROUNDING * np.bincount(classes, np.abs(numbers / unit), len(sizes))
    total = np.bincount(classes, away, len(sizes))
    return np.asarray(np.abs(total) <= limit)


def _is_median(
    sql_type: str, values: pa.Array, labels: pa.Array, classes: Codes, sizes: npt.NDArray[np.int64]
) -> Bools:
    """Return whether the label is a value of the class with as many below as has the lower median.

    The result is bool[m].
    """
    keys = numeric_keys(sql_type, pa.concat_arrays([values, labels.cast(values.type)]))
    value_keys, label = keys[: len(values)], keys[len(values) :]
    below, upto = (
        np.bincount(classes, side, len(sizes)) for side in (value_keys < label, value_keys <= label)
    )
    middle = (sizes - 1) // 2
    return np.asarray((below <= middle) & (upto > middle))
