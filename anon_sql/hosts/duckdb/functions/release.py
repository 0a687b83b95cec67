"""Release the rows of a call, or run one step of a release, as SQL calls them."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql.core.arrow import first, lists, one_list, one_map, one_struct
from anon_sql.core.labels.writing import Labels
from anon_sql.hosts.duckdb import rows
from anon_sql.hosts.duckdb.binding import HELPER
from anon_sql.hosts.duckdb.registry import sql_type, udf
from anon_sql.hosts.duckdb.roles import shadowed
from anon_sql.hosts.duckdb.rows import buffered_rows, named, path_rows
from anon_sql.measures import quality as stats
from anon_sql.pipeline import statistics
from anon_sql.pipeline.compute import Release, release
from anon_sql.pipeline.synthesize import require_sensitive, synthesize

_KEPT = HELPER + "kept_"
TEXT, SETS = pa.list_(pa.string()), pa.list_(pa.list_(pa.string()))
ENDS = pa.list_(pa.struct([("min", pa.string()), ("max", pa.string())]))
PRINTED = {"labels": TEXT, "ends": ENDS, "sets": SETS}  # labels by how they are printed
PRINTED_FIELDS = [(name, pa.map_(pa.string(), kind)) for name, kind in PRINTED.items()]
_RELEASE = pa.struct(
    [
        ("buffer", pa.int64()),
        ("position", pa.list_(pa.int32())),
        ("class", pa.list_(pa.int32())),
        *PRINTED_FIELDS,
    ]
)


@udf(sql_type(_RELEASE), volatile=True)
def result(
    numbers: Any,
    row_numbers: Any,
    paths: Any,
    kept_names: Any,
    quasi_names: Any,
    order_names: Any,
    looks: Any,
) -> pa.Array:
    """Return the position and class of each released row, and the labels of each class by column.

    Positions and classes count from 1; the result is NULL for a table without rows. numbers: number
    of the buffer; row_numbers: the list of arrival numbers. kept_names, quasi_names,
    order_names: lists of the columns picked while the statement was bound. looks: what
    ``__anon_looked`` returns of each column that only a ``*`` releases.
    """
    number = numbers[0].as_py()
    request, source = buffered_rows(number, row_numbers, looks)
    if source is None:
        return pa.array([None], _RELEASE)
    require_bound(request.function, request.kept, first(kept_names))
    require_bound(request.function, request.quasi, first(quasi_names))
    require_bound(request.function, [*request.kept, *request.quasi], first(order_names))
    return _packed(number, release(source, request, path_rows(paths)))


def _packed(number: int, released: Release) -> pa.StructArray:
    """Return a release as one struct value."""
    return one_struct(
        {
            "buffer": pa.array([number], pa.int64()),
            "position": one_list(released.position + np.int32(1), pa.int32()),
            "class": one_list(released.class_of + np.int32(1), pa.int32()),
            **of_classes(released.labels),
        }
    )


def of_classes(labels: Mapping[str, Labels]) -> dict[str, pa.MapArray]:
    """Return the label of each class by name, in a map for each way in which labels are printed."""
    columns = {
        name: column_labels.printed.take(pa.array(column_labels.label_of))
        for name, column_labels in labels.items()
    }
    return {field: _by_name(columns, kind) for field, kind in PRINTED.items()}


def _by_name(columns: Mapping[str, pa.Array], kind: pa.ListType) -> pa.MapArray:
    """Return one map from column to labels, of the columns whose labels have the type ``kind``."""
    labels_of_kind = {
        name: labels for name, labels in columns.items() if labels.type == kind.value_type
    }
    values = [one_list(labels, kind.value_type) for labels in labels_of_kind.values()]
    return one_map(list(labels_of_kind), values, kind)


def require_bound(function: str, allowed: Collection[str], picked: Collection[str]) -> None:
    """Raise AnonError unless the columns picked at binding are those that the roles allow."""
    bound = {name.removeprefix(_KEPT) for name in picked}
    bound = {name for name in bound if not name.startswith(HELPER)}
    if bound != set(allowed):
        raise shadowed(function)


_RANGES = pa.map_(pa.string(), pa.float64())
_COF = pa.struct([("cof", pa.list_(pa.float64())), ("outlier", pa.list_(pa.bool_()))])
_RECOVERY = pa.struct(
    [
        *((name, pa.int64()) for name in statistics.STATS),
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
        *((name, pa.int64()) for name in statistics.COUNT_COLUMNS[:3]),
        ("suppression_rate", pa.float64()),
        *((name, pa.float64()) for name in statistics.LOSS_COLUMNS),
        *((name, pa.int64()) for name in statistics.COUNT_COLUMNS[3:]),
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


@udf("INTEGER[]", volatile=True)
def class_ids(numbers: Any, row_numbers: Any, paths: Any) -> pa.Array:
    """Return the class of each row, in the order of ``row_numbers``."""
    request, source = buffered_rows(numbers[0].as_py(), row_numbers)
    ids = None if source is None else statistics.class_ids(source, request, path_rows(paths))
    return one_list(ids, pa.int32())


@udf(sql_type(_COF), volatile=True)
def cof(numbers: Any, row_numbers: Any, paths: Any) -> pa.Array:
    """Return the outlier factor and flag of each row, in the order of ``row_numbers``."""
    request, source = buffered_rows(numbers[0].as_py(), row_numbers)
    scores, outlier = (
        (None, None) if source is None else statistics.cof(source, request, path_rows(paths))
    )
    return one_struct(
        {"cof": one_list(scores, pa.float64()), "outlier": one_list(outlier, pa.bool_())}
    )


@udf(sql_type(_RECOVERY), volatile=True)
def recovery_stats(numbers: Any, row_numbers: Any, paths: Any) -> pa.Array:
    """Return the statistics of RAYDEN or M-COF on a table."""
    request, source = buffered_rows(numbers[0].as_py(), row_numbers)
    return pa.array([statistics.recovery_stats(source, request, path_rows(paths))], _RECOVERY)


@udf(sql_type(_DOP), volatile=True)
def dop_stats(numbers: Any, row_numbers: Any, paths: Any) -> pa.Array:
    """Return the statistics of DOP on a table."""
    request, source = buffered_rows(numbers[0].as_py(), row_numbers)
    row = dict.fromkeys(_DOP.names, 0) | statistics.dop_stats(source, request, path_rows(paths))
    return pa.array([row], _DOP)


@udf(sql_type(_SAVED), volatile=True)
def anonymize_stats(numbers: Any, row_numbers: Any, paths: Any) -> pa.Array:
    """Return what the suppression of rows by anonymize saves."""
    request, source = buffered_rows(numbers[0].as_py(), row_numbers)
    return pa.array([statistics.anonymize_stats(source, request, path_rows(paths))], _SAVED)


@udf(sql_type(pa.list_(_NODE)), volatile=True)
def lattice(numbers: Any, row_numbers: Any, paths: Any) -> pa.Array:
    """Return the nodes of the generalization lattice that were looked at."""
    request, source = buffered_rows(numbers[0].as_py(), row_numbers)
    return pa.array([statistics.lattice(source, request, path_rows(paths))], pa.list_(_NODE))


@udf(sql_type(_RANGES), volatile=True)
def gower_ranges(numbers: Any, row_numbers: Any) -> pa.Array:
    """Return the range of each column by name; NULL for an empty table."""
    request, source = buffered_rows(numbers[0].as_py(), row_numbers)
    ranges = None if source is None else list(statistics.gower_ranges(source, request).items())
    return pa.array([ranges], _RANGES)


_POSITIONS = pa.map_(pa.string(), pa.list_(pa.int32()))
_ADDED = pa.struct([("attribute", pa.string()), ("value", pa.string()), ("rows", pa.int64())])
_WHOLE = ("real_rows", "synthetic_rows", "clusters", "merged", "classes", "smallest_class")
_STATS = pa.struct(
    [
        *((name, pa.int64()) for name in _WHOLE[:2]),
        ("added", pa.list_(_ADDED)),
        *((name, pa.int64()) for name in _WHOLE[2:]),
        *((name, pa.float64()) for name in ("iloss", "gcp")),
    ]
)


@udf(sql_type(_POSITIONS), volatile=True)
def synthetic_positions(numbers: Any, packed: Any) -> pa.Array:
    """Return, by released column, the list positions, from 1, of the synthetic records' values.

    packed: lists of the released columns and of hashes of their values. The result is NULL for a
    table without rows.
    """
    request = rows.claim(first(numbers)).request
    columns = lists(packed)
    require_sensitive(request)
    codes = named(columns, HELPER + "code_")
    if any(values is None for values in codes.values()):
        return pa.array([None], _POSITIONS)
    values = {name: columns[name] for name in codes}
    positions = synthesize(request, values, codes)
    return pa.array(
        [[(name, indices + np.int64(1)) for name, indices in positions.items()]], _POSITIONS
    )


@udf(sql_type(_STATS), volatile=True)
def sdka_stats(
    numbers: Any, row_numbers: Any, paths: Any, types: Any, synthetic_lists: Any
) -> pa.Array:
    """Return the statistics of SDkA; synthetic_lists: sensitive values of synthetic rows."""
    request, source = buffered_rows(first(numbers), row_numbers)
    if source is None:
        return pa.array([{**dict.fromkeys(_WHOLE, 0), "added": []}], _STATS)
    synthetic_values = {
        name: values
        for name, values in lists(synthetic_lists).items()
        if values is not None and not name.startswith(HELPER)
    }
    row = stats.sdka_stats(source, request, path_rows(paths))
    return pa.array([{**row, "added": stats.added(synthetic_values, first(types))}], _STATS)
