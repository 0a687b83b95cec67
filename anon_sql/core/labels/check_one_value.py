"""Verify printed means and medians against the values of their classes."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.arrow import valid
from anon_sql.core.columns import numeric_keys
from anon_sql.core.exact import approximate, exact
from anon_sql.core.labels.one_value import typed_values

Codes = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]
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
    shown = typed_values(texts, sql_type, form)
    malformed = valid(texts) & ~valid(shown)
    of_row = shown.take(pa.array(label_of[classes]))
    sizes = np.bincount(classes, minlength=count)
    true = _is_mean if form == "mean" else _is_median
    held = valid(shown)[label_of]
    false = held & ~true(sql_type, values, of_row, classes, sizes)
    false |= held & (np.bincount(classes, ~valid(values), count) > 0)
    false |= malformed[label_of]
    return ~valid(texts), int(sizes[false].sum())


def _is_mean(
    sql_type: str, values: pa.Array, shown: pa.Array, classes: Codes, sizes: npt.NDArray[np.int64]
) -> Bools:
    """Return whether deviations from the label add up to 0, but for rounding; bool[m]."""
    if pa.types.is_temporal(values.type):
        away = (exact("", values)[0] - exact("", shown)[0]).astype(np.float64)
        limit = sizes / 2 + ROUNDING * np.bincount(classes, np.abs(away), len(sizes))
    else:
        given, mean = approximate(sql_type, values), approximate("DOUBLE", shown)
        unit = float(np.abs(given).max(initial=0.0)) or 1.0
        away = given / unit - mean / unit
        limit = ROUNDING * np.bincount(classes, np.abs(given / unit), len(sizes))
    total = np.bincount(classes, away, len(sizes))
    return np.asarray(np.abs(total) <= limit)


def _is_median(
    sql_type: str, values: pa.Array, shown: pa.Array, classes: Codes, sizes: npt.NDArray[np.int64]
) -> Bools:
    """Return whether the label is a value of the class with as many below as has the lower median.

    The result is bool[m].
    """
    keys = numeric_keys(sql_type, pa.concat_arrays([values, shown.cast(values.type)]))
    own, label = keys[: len(values)], keys[len(values) :]
    below, upto = (np.bincount(classes, side, len(sizes)) for side in (own < label, own <= label))
    middle = (sizes - 1) // 2
    return np.asarray((below <= middle) & (upto > middle))
