"""The axis of a number, date or time: the ends of its labels and the constants of its conditions,
and a value out of each gap between them. Within a gap no condition changes."""

import numpy as np
import pyarrow as pa

from anon_sql.core.arrow import valid
from anon_sql.core.columns import numeric_keys
from anon_sql.core.labels.read import Ranges, read_ranges
from anon_sql.core.printing import cast, evaluated
from anon_sql.measures.points import doubles
from anon_sql.queries.axis import Axis, Ints, Spans
from anon_sql.queries.quasi import Quasi

_COUNTED = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "DATE")  # and U…
_MIDDLE = {  # a value between low and high
    "TIME": "make_timestamp((epoch_us(low) + epoch_us(high)) // 2)::TIME",
    "TIME_NS": "make_timestamp_ns((epoch_ns(low) + epoch_ns(high)) // 2)::TIME_NS",
    "TIMESTAMP_NS": "make_timestamp_ns(epoch_ns(low) // 2 + epoch_ns(high) // 2)",
    "TIMESTAMP WITH TIME ZONE": "to_timestamp(0) + to_microseconds("
    "epoch_us(low) // 2 + epoch_us(high) // 2)",
} | dict.fromkeys(
    ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS"),
    "make_timestamp(epoch_us(low) // 2 + epoch_us(high) // 2)",
)


def axis_of_numbers(quasi: Quasi, shown: pa.Array) -> Axis:
    """Return the axis of a column and of its labels, within the ends of the raw column. Raises
    AnonError for a label that covers nothing between them."""
    sql_type, nulls = quasi.domain.sql_type, quasi.domain.nulls
    said = read_ranges(sql_type, shown)
    points, covered = _points(quasi, sql_type, said)
    gaps, at = _gaps(sql_type, points)
    every = pa.concat_arrays([points, gaps, pa.nulls(1, points.type)])
    truths = quasi.truth(every, sql_type)
    point = truths[: len(points)]
    gap = point[:-1].copy()  # as the point before
    gap[at] = truths[len(points) : -1]
    weight = 1.0 if sql_type.lstrip("U") in _COUNTED else 0.0
    width = np.maximum(np.diff(doubles(sql_type, points)) - weight, 0.0)
    return Axis(point, gap, truths[-1], nulls, weight, width, said, covered)


def _points(quasi: Quasi, sql_type: str, said: Ranges) -> tuple[pa.Array, Spans]:
    """The points in their order, and where each label begins and ends."""
    constants = cast([pa.array(quasi.constants, pa.string())], [sql_type], quasi.time_zone)
    given = [quasi.ends, *constants, said.low, said.high]
    ends = pa.concat_arrays([each.cast(said.low.type) for each in given])  # of one time zone
    keys, inside = numeric_keys(sql_type, ends), valid(ends)
    if inside[0]:
        inside &= (keys >= keys[0]) & (keys <= keys[1])
    else:
        inside[:] = False  # the raw column holds NULL alone
    known, first = np.unique(keys[inside], return_index=True)
    labels = len(said.star)
    low, high = np.split(keys[len(keys) - 2 * labels :], 2)
    first_at, last_at = np.searchsorted(known, low), np.searchsorted(known, high, "right") - 1
    said_of = ~said.star & ~said.empty
    if said_of.any() and (said.malformed | (first_at > last_at))[said_of].any():
        raise quasi.other()
    low, high = (np.where(said_of, place, 0) for place in (first_at, last_at))
    return ends.take(pa.array(np.flatnonzero(inside)[first])), Spans(low, high)


def _gaps(sql_type: str, points: pa.Array) -> tuple[pa.Array, Ints]:
    """A value out of each gap that has one, and the place of the gap."""
    if len(points) < 2:
        return points[:0], np.zeros(0, dtype=np.int64)
    low, high = points[:-1], points[1:]
    middle = _MIDDLE.get(sql_type, "low / 2 + high / 2")
    middle = "high - 1" if sql_type.lstrip("U") in _COUNTED else middle
    wanted = [f"TRY_CAST({middle} AS {sql_type})"]
    found = evaluated({"low": low, "high": high}, [sql_type, sql_type], wanted)[0]
    keys = numeric_keys(sql_type, pa.concat_arrays([low, found, high]))
    below, key, above = np.split(keys, 3)
    between = valid(found) & (key > below) & (key < above)
    return found.filter(pa.array(between)), np.flatnonzero(between)
