"""Arrow values of SQL calls as Python and numpy, and back; one row is one call."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql.errors import AnonError


def first(argument: pa.ChunkedArray | pa.Array) -> Any:
    """The one value of a parameter."""
    return argument[0].as_py()


def lists(argument: pa.ChunkedArray | pa.Array) -> dict[str, pa.Array | None]:
    """The lists of a one-row struct by field name; None for a list that is NULL."""
    struct = argument.combine_chunks() if isinstance(argument, pa.ChunkedArray) else argument
    if isinstance(struct, pa.ChunkedArray):
        struct = struct.chunk(0)
    return {
        struct.type[at].name: None if not field[0].is_valid else plain(field[0].values)
        for at, field in enumerate(struct.flatten())
    }


def plain(values: pa.Array) -> pa.Array:
    """The values, or AnonError where a setting makes DuckDB send them in a wrapped type.

    DuckDB 1.5 then says that BOOLEANs are bytes and sends bits.
    """
    if isinstance(values.type, pa.BaseExtensionType):
        setting = "arrow_lossless_conversion"
        raise AnonError("anon_sql", f"{setting} must be off", "on", f"RESET {setting}")
    return values


def integers(values: pa.Array) -> Any:
    """A list of integers as numpy; NULL becomes 0, so callers look at validity themselves."""
    values = plain(values)
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.int8())
    return values.fill_null(0).to_numpy(zero_copy_only=False)


def one_list(values: Any, item: pa.DataType) -> pa.ListArray:
    """A single list value, or NULL for None."""
    if values is None:
        return pa.array([None], pa.list_(item))
    items = values if isinstance(values, pa.Array) else pa.array(values, item)
    return pa.ListArray.from_arrays(pa.array([0, len(items)], pa.int32()), items)


def one_struct(fields: Mapping[str, pa.Array]) -> pa.StructArray:
    """A single struct value of one-row arrays."""
    return pa.StructArray.from_arrays(list(fields.values()), names=list(fields))


def one_map(names: Sequence[str], values: Sequence[pa.Array], item: pa.DataType) -> pa.MapArray:
    """A single map from names to one-row arrays."""
    items = pa.concat_arrays(values) if values else pa.array([], item)
    keys = pa.array(list(names), pa.string())
    return pa.MapArray.from_arrays(pa.array([0, len(keys)], pa.int32()), keys, items)


def valid(values: pa.Array) -> Any:
    """Which values are not NULL, as bool[n]."""
    if values.null_count == 0:
        return np.ones(len(values), dtype=np.bool_)
    return values.is_valid().to_numpy(zero_copy_only=False)
