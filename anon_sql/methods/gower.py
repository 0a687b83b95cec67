"""Gower's distance of two records, and the ranges of columns that it divides by."""

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql import kernels
from anon_sql.core.arrow import integers, plain, valid
from anon_sql.core.columns import Numbers, gaps
from anon_sql.core.parameters import declare
from anon_sql.core.roles import fold
from anon_sql.core.table import QuasiTable
from anon_sql.errors import AnonError, Parameter, did_you_mean
from anon_sql.methods.method import COMMON


def gower(left: pa.Array, right: pa.Array, ranges: pa.Array) -> npt.NDArray[np.float64]:
    """Return Gower's distance of pairs of records, float64[n] in [0, 1].

    NaN if no column is present in both (Gower 1971, "A general coefficient of similarity"). Raises
    AnonError for other types and for missing columns.

    left, right: structs of one record each.
    ranges: a map of a range for each number, NULL for each text, as ``gower_ranges`` has it.
    """
    for record in (left, right):
        if not _is_or_null(record, pa.types.is_struct):
            raise AnonError(
                "gower",
                Parameter("a") + " and " + Parameter("b") + " must be structs of one record each",
                str(record.type),
            )
    if not _is_or_null(ranges, pa.types.is_map):
        raise AnonError(
            "gower", Parameter("ranges") + " must come from gower_ranges()", str(ranges.type)
        )
    distances = np.full(len(left), np.nan)
    for widths, rows in _by_ranges(ranges):
        distances[rows] = _distances(left.take(rows), right.take(rows), widths)
    return distances


def _is_or_null(values: pa.Array, test: Callable[[pa.DataType], bool]) -> bool:
    return test(values.type) or pa.types.is_null(values.type)


def _by_ranges(ranges: pa.Array) -> list[tuple[dict[str, float | None], pa.Array]]:
    """Return each map of widths, with the rows that have it; rows without a map are left out."""
    count = len(ranges)
    if count and ranges.slice(1).equals(ranges.slice(0, count - 1)):
        widths = ranges[0].as_py()
        return [] if widths is None else [(_widths(widths), pa.array(range(count), pa.int64()))]
    rows: dict[Any, list[int]] = {}
    for row, widths in enumerate(ranges.to_pylist()):
        if widths is not None:
            rows.setdefault(tuple(widths), []).append(row)
    return [
        (_widths(widths), pa.array(positions, pa.int64())) for widths, positions in rows.items()
    ]


def _widths(ranges: Iterable[tuple[Any, Any]]) -> dict[str, float | None]:
    """Return checked ranges, Python numbers of any kind as floats."""
    pairs = list(ranges)
    number_types = (int, float, Decimal, type(None))
    if not all(isinstance(n, str) and isinstance(w, number_types) for n, w in pairs):
        raise AnonError(
            "gower", Parameter("ranges") + " must be a MAP(VARCHAR, DOUBLE)", "a map of other types"
        )
    return {name: None if width is None else float(width) for name, width in pairs}


def _distances(
    left: pa.Array, right: pa.Array, widths: Mapping[str, float | None]
) -> npt.NDArray[np.float64]:
    """Return the distances of the pairs of rows; NaN if no column is present in both."""
    if not widths or pa.types.is_null(left.type) or pa.types.is_null(right.type):
        return np.full(len(left), np.nan)
    gaps_by_column = [_apart(_field(left, n), _field(right, n), n, w) for n, w in widths.items()]
    return kernels.distance.gower_pairs(
        np.zeros((len(left), len(widths))),
        np.column_stack(gaps_by_column),
        [width is not None for width in widths.values()],
        [width or 0.0 for width in widths.values()],
    )


def _field(record: pa.StructArray, name: str) -> pa.Array:
    names = [field.name for field in record.type]
    index = next((i for i, field_name in enumerate(names) if fold(field_name) == fold(name)), None)
    if index is None:
        hint = did_you_mean(name, names)
        raise AnonError(
            "gower", "a record must have every column of " + Parameter("ranges"), f"no {name}", hint
        )
    return plain(record.flatten()[index])


def _apart(
    left: pa.Array, right: pa.Array, name: str, width: float | None
) -> npt.NDArray[np.float64]:
    """Return how far two columns are apart, at most by the range; text by 0 or 1; NaN for NULL."""
    kinds = {_kind(side.type) for side in (left, right)} - {"null"}
    if len(kinds) > 1 or "other" in kinds or (width is not None and "text" in kinds):
        raise AnonError(
            "gower",
            "a column must be text, or numbers or times of one kind that have a range",
            f"{name} as {' and '.join(sorted({str(left.type), str(right.type)}))}",
        )
    present_type = next((s.type for s in (left, right) if not pa.types.is_null(s.type)), pa.int8())
    sides = [
        pa.nulls(len(s), present_type) if pa.types.is_null(s.type) else s for s in (left, right)
    ]
    if width is not None:
        distance = gaps(*sides)
        return np.minimum(distance, width) if width > 0 else distance
    same = pc.equal(*(side.cast(pa.string()) for side in sides))
    return np.where(valid(same), np.where(integers(same), 0.0, 1.0), np.nan)


def _kind(kind: pa.DataType) -> str:
    types = pa.types
    if (
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_boolean(kind)
        or types.is_dictionary(kind)
    ):
        return "text"
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "number"
    tests = {"null": types.is_null, "date": types.is_date, "time": types.is_time}
    tests["timestamp"] = types.is_timestamp
    return next((name for name, test in tests.items() if test(kind)), "other")


declare("gower_ranges", *COMMON, only=("quasi",))


def ranges(table: QuasiTable) -> dict[str, float | None]:
    """Return largest minus smallest value by column; None for text, 0 where all is NULL."""
    return {
        column.name: column.width if isinstance(column, Numbers) else None
        for column in table.columns
    }
