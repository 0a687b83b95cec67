"""Compute the release of the rows of a call; SQL assembles the result table."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql.core.arrow import first, one_list, one_map, one_struct
from anon_sql.hosts.duckdb.calls.binding import HELPER
from anon_sql.hosts.duckdb.calls.taking import given_paths, taken_rows
from anon_sql.hosts.duckdb.registry import sql_type, udf
from anon_sql.hosts.duckdb.settling import shadowed
from anon_sql.pipeline.release import Release, release

_KEPT = HELPER + "kept_"
_TEXT, _SETS = pa.list_(pa.string()), pa.list_(pa.list_(pa.string()))
_ENDS = pa.list_(pa.struct([("min", pa.string()), ("max", pa.string())]))
_RELEASE = pa.struct(
    [
        ("intake", pa.int64()),
        ("position", pa.list_(pa.int32())),
        ("class", pa.list_(pa.int32())),
        ("labels", pa.map_(pa.string(), _TEXT)),
        ("ends", pa.map_(pa.string(), _ENDS)),
        ("sets", pa.map_(pa.string(), _SETS)),
    ]
)


@udf("__anon_released", sql_type(_RELEASE), volatile=True)
def released(
    numbers: Any, taken: Any, paths: Any, kept_names: Any, shown_names: Any, order_names: Any
) -> pa.Array:
    """Return the position and class of each released row, and the labels of each class by column.

    Positions and classes count from 1; the result is NULL for a table without rows. numbers: number
    of the intake; taken: the list of arrival numbers of the rows. kept_names, shown_names,
    order_names: lists of the columns picked while the statement was bound.
    """
    number = numbers[0].as_py()
    request, source = taken_rows(number, taken)
    if source is None:
        return pa.array([None], _RELEASE)
    _require_bound(request.function, request.kept, first(kept_names))
    _require_bound(request.function, request.quasi, first(shown_names))
    _require_bound(request.function, [*request.kept, *request.quasi], first(order_names))
    return _packed(number, release(source, request, given_paths(paths)))


def _packed(number: int, found: Release) -> pa.StructArray:
    """Return a release as one struct value."""
    shown = {name: made.shown.take(pa.array(made.label_of)) for name, made in found.labels.items()}
    return one_struct(
        {
            "intake": pa.array([number], pa.int64()),
            "position": one_list(found.position + np.int32(1), pa.int32()),
            "class": one_list(found.class_of + np.int32(1), pa.int32()),
            "labels": _by_name(shown, _TEXT),
            "ends": _by_name(shown, _ENDS),
            "sets": _by_name(shown, _SETS),
        }
    )


def _by_name(shown: Mapping[str, pa.Array], kind: pa.ListType) -> pa.MapArray:
    """Return one map from column to labels, of the columns whose labels have the type ``kind``."""
    own = {name: labels for name, labels in shown.items() if labels.type == kind.value_type}
    values = [one_list(labels, kind.value_type) for labels in own.values()]
    return one_map(list(own), values, kind)


def _require_bound(function: str, allowed: Collection[str], picked: Collection[str]) -> None:
    """Raise AnonError unless the columns picked at binding are those that the roles allow."""
    bound = {name.removeprefix(_KEPT) for name in picked}
    bound = {name for name in bound if not name.startswith(HELPER)}
    if bound != set(allowed):
        raise shadowed(function)
