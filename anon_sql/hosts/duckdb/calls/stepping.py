"""Compute the building blocks and their statistics on the rows of a call."""

from typing import Any

import pyarrow as pa

from anon_sql.core.arrow import one_list, one_struct
from anon_sql.hosts.duckdb.calls.taking import given_paths, taken_rows
from anon_sql.hosts.duckdb.registry import sql_type, udf
from anon_sql.pipeline import saved, steps

_RANGES = pa.map_(pa.string(), pa.float64())
_COF = pa.struct([("cof", pa.list_(pa.float64())), ("outlier", pa.list_(pa.bool_()))])
_RECOVERY = pa.struct(
    [
        *((name, pa.int64()) for name in steps.STATS),
        ("orr", pa.float64()),
        ("suppression_rate", pa.float64()),
        ("classes", pa.int64()),
    ]
)
_DOP = pa.struct(
    [
        ("eps", pa.float64()),
        *(
            (name, pa.int64())
            for name in ("min_samples", "clusters", "noise", "joined", "splits", "suppressed")
        ),
        ("suppression_rate", pa.float64()),
        ("classes", pa.int64()),
    ]
)

_SAVED = pa.struct(
    [
        ("rows", pa.int64()),
        *((name, pa.int64()) for name in saved.COUNTS[:3]),
        ("suppression_rate", pa.float64()),
        *((name, pa.float64()) for name in saved.LOSSES),
        *((name, pa.int64()) for name in saved.COUNTS[3:]),
        ("reason", pa.string()),
    ]
)

_NODE = pa.struct(
    [
        ("levels", pa.map_(pa.string(), pa.int32())),
        ("loss", pa.float64()),
        ("suppressed", pa.int64()),
        ("classes", pa.int64()),
        ("legal", pa.bool_()),
        ("best", pa.bool_()),
    ]
)


@udf("__anon_class_ids", "INTEGER[]", volatile=True)
def class_ids(numbers: Any, taken: Any, paths: Any) -> pa.Array:
    """Return the class of each row, in the order of the list ``taken``."""
    request, source = taken_rows(numbers[0].as_py(), taken)
    found = None if source is None else steps.class_ids(source, request, given_paths(paths))
    return one_list(found, pa.int32())


@udf("__anon_cof", sql_type(_COF), volatile=True)
def cof(numbers: Any, taken: Any, paths: Any) -> pa.Array:
    """Return the outlier factor and flag of each row, in the order of the list ``taken``."""
    request, source = taken_rows(numbers[0].as_py(), taken)
    scores, outlier = (
        (None, None) if source is None else steps.cof(source, request, given_paths(paths))
    )
    return one_struct(
        {"cof": one_list(scores, pa.float64()), "outlier": one_list(outlier, pa.bool_())}
    )


@udf("__anon_recovery_stats", sql_type(_RECOVERY), volatile=True)
def recovery_stats(numbers: Any, taken: Any, paths: Any) -> pa.Array:
    """Return the statistics of RAYDEN or M-COF on a table."""
    request, source = taken_rows(numbers[0].as_py(), taken)
    return pa.array([steps.recovery_stats(source, request, given_paths(paths))], _RECOVERY)


@udf("__anon_dop_stats", sql_type(_DOP), volatile=True)
def dop_stats(numbers: Any, taken: Any, paths: Any) -> pa.Array:
    """Return the statistics of DOP on a table."""
    request, source = taken_rows(numbers[0].as_py(), taken)
    row = dict.fromkeys(_DOP.names, 0) | steps.dop_stats(source, request, given_paths(paths))
    return pa.array([row], _DOP)


@udf("__anon_anonymize_stats", sql_type(_SAVED), volatile=True)
def anonymize_stats(numbers: Any, taken: Any, paths: Any) -> pa.Array:
    """Return what the suppression of rows by anonymize saves."""
    request, source = taken_rows(numbers[0].as_py(), taken)
    return pa.array([saved.anonymize_stats(source, request, given_paths(paths))], _SAVED)


@udf("__anon_lattice", sql_type(pa.list_(_NODE)), volatile=True)
def lattice(numbers: Any, taken: Any, paths: Any) -> pa.Array:
    """Return the nodes of the generalization lattice that were looked at."""
    request, source = taken_rows(numbers[0].as_py(), taken)
    return pa.array([steps.lattice(source, request, given_paths(paths))], pa.list_(_NODE))


@udf("__anon_gower_ranges", sql_type(_RANGES), volatile=True)
def gower_ranges(numbers: Any, taken: Any) -> pa.Array:
    """Return the range of each column by name; NULL for an empty table."""
    request, source = taken_rows(numbers[0].as_py(), taken)
    found = None if source is None else list(steps.gower_ranges(source, request).items())
    return pa.array([found], _RANGES)
