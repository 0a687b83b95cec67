"""Convert Arrow arguments to Python and numpy and results back, and return free memory.

A table-valued call of SQL is one row; its columns arrive as lists within that row.
"""

import ctypes
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.errors import AnonError

_VIEWS = frozenset(
    kind.id
    for kind in (
        pa.string_view(),
        pa.binary_view(),
        pa.list_view(pa.null()),
        pa.large_list_view(pa.null()),
    )
)


def first(argument: pa.ChunkedArray | pa.Array) -> Any:
    """Return the first value of an argument as a Python object."""
    return argument[0].as_py()


def without_views(values: Any) -> Any:
    """Return values without view types and with decimals of 128 bits, DuckDB's default Arrow types.

    values: an array or a chunked array. Some DuckDB settings produce string views, list views and
    narrower decimals, also within nested types; values of such types are copied.
    """
    if _is_default(values.type):
        return values
    if isinstance(values, pa.ChunkedArray):
        chunks = values.chunks or [pa.array([], values.type)]
        return pa.chunked_array([_copied(chunk) for chunk in chunks])
    return _copied(values)


def _is_default(kind: pa.DataType) -> bool:
    """Return whether a type, and every type within it, is one that DuckDB sends by default."""
    if kind.id in _VIEWS:
        return False
    if pa.types.is_decimal(kind):
        return bool(kind.bit_width >= 128)
    if kind.num_fields == 0 or pa.types.is_map(kind):
        return True
    return all(_is_default(kind.field(i).type) for i in range(kind.num_fields))


def _copied(values: pa.Array) -> pa.Array:
    """Return a copy in the default type.

    Lists are rebuilt from their lengths, because a cast of list views confuses NULL with empty
    lists.
    """
    kind = values.type
    if pa.types.is_string_view(kind):
        return values.cast(pa.string())
    if pa.types.is_binary_view(kind):
        return values.cast(pa.binary())
    if pa.types.is_decimal(kind):
        return values.cast(pa.decimal128(kind.precision, kind.scale))
    missing = values.is_null()
    if pa.types.is_struct(kind):
        fields = [without_views(values.field(i)) for i in range(kind.num_fields)]
        names = [kind.field(i).name for i in range(kind.num_fields)]
        return pa.StructArray.from_arrays(fields, names=names, mask=missing)
    lengths = integers(pc.list_value_length(values)).astype(np.int64)
    ends = pa.array(np.append(0, np.cumsum(lengths)), pa.int32())
    return pa.ListArray.from_arrays(ends, without_views(values.flatten()), mask=missing)


def occurring(values: pa.Array) -> pa.Array:
    """Return values of a release, whose dictionaries, also within nested types, have no others.

    A dictionary has its values in its own order if it is ordered, else as they first occur: its
    order could show the order of the rows.

    values: as ``take`` returns them, not ``is_misread``.
    """
    kind = values.type
    if not _holds_dictionary(kind):
        return values
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, occurring(values.storage))
    if pa.types.is_dictionary(kind):
        return _of_dictionary(values)
    missing, fields = values.is_null(), [kind.field(i) for i in range(kind.num_fields)]
    if pa.types.is_struct(kind):
        return pa.StructArray.from_arrays(
            [occurring(field) for field in values.flatten()], fields=fields, mask=missing
        )
    if pa.types.is_map(kind):
        values = values.take(pa.array(np.arange(len(values))))  # one that is NULL has no entries
        ends = integers(values.offsets)
        inner = [field[ends[0] : ends[-1]] for field in (values.keys, values.items)]
        starts = pa.array(ends - ends[0], mask=np.append(integers(missing).astype(np.bool_), False))
        return pa.MapArray.from_arrays(starts, *map(occurring, inner), type=kind)
    items = values.flatten()  # without the items of lists that are NULL
    sizes = integers(pc.list_value_length(values))
    ends = np.append(0, np.cumsum(sizes)).astype(sizes.dtype)
    places = [ends[:-1], sizes] if kind.id in _VIEWS else [ends]
    return type(values).from_arrays(
        *map(pa.array, places), occurring(items), type=kind, mask=missing
    )


def _holds_dictionary(kind: pa.DataType) -> bool:
    """Return whether a type, or one within it, has a dictionary."""
    if isinstance(kind, pa.BaseExtensionType):
        return _holds_dictionary(kind.storage_type)
    inner = [kind.field(i).type for i in range(kind.num_fields)]
    return pa.types.is_dictionary(kind) or any(map(_holds_dictionary, inner))


def is_misread(kind: pa.DataType) -> bool:
    """Return whether a type has a dictionary within lists of fixed size, runs or unions.

    DuckDB reads its codes there as values, or, in such lists, as texts at a wrong place in memory.
    """
    if isinstance(kind, pa.BaseExtensionType):
        return is_misread(kind.storage_type)
    if pa.types.is_run_end_encoded(kind):
        return _holds_dictionary(kind.value_type)
    if pa.types.is_union(kind) or pa.types.is_fixed_size_list(kind):
        return _holds_dictionary(kind)
    return any(is_misread(kind.field(i).type) for i in range(kind.num_fields))


def _of_dictionary(values: pa.DictionaryArray) -> pa.DictionaryArray:
    codes, count = integers(values.indices), len(values.dictionary)
    missing = None if values.null_count == 0 else ~valid(values.indices)
    present_codes = codes if missing is None else codes[~missing]
    first = np.full(count, len(present_codes))
    first[present_codes[::-1]] = np.arange(len(present_codes))[::-1]
    occurring_codes = np.flatnonzero(first < len(present_codes))
    used = (
        occurring_codes
        if values.type.ordered
        else occurring_codes[np.argsort(first[occurring_codes])]
    )
    new_code = np.zeros(max(count, 1), values.type.index_type.to_pandas_dtype())
    new_code[used] = np.arange(len(used))
    return pa.DictionaryArray.from_arrays(
        pa.array(new_code[codes], mask=missing),
        values.dictionary.take(pa.array(used)),
        ordered=values.type.ordered,
    )


def one_array(argument: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Return an argument as one array; a single chunk is not copied."""
    if not isinstance(argument, pa.ChunkedArray):
        return argument
    if argument.num_chunks == 1:
        return argument.chunk(0)
    return pa.concat_arrays(argument.chunks or [pa.array([], argument.type)])


def lists(argument: pa.ChunkedArray | pa.Array) -> dict[str, pa.Array | None]:
    """Return the lists of a one-row struct by field name; None for a list that is NULL."""
    struct = one_array(argument)
    return {
        struct.type[i].name: None if not field[0].is_valid else plain(field[0].values)
        for i, field in enumerate(struct.flatten())
    }


def plain(values: Any) -> Any:
    """Return the values, or raise AnonError if their type is an Arrow extension type.

    The setting ``arrow_lossless_conversion`` makes DuckDB send extension types; DuckDB 1.5 then
    declares BOOLEAN values as bytes although it sends bits.
    """
    if isinstance(values.type, pa.BaseExtensionType):
        setting = "arrow_lossless_conversion"
        raise AnonError("anon_sql", f"{setting} must be off", "on", f"RESET {setting}")
    return values


def integers(values: pa.Array) -> Any:
    """Return numbers as a numpy array of their own type, booleans as int8; NULL becomes 0.

    Callers take the validity of each value from ``valid``.
    """
    values = plain(values)
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.int8())
    present = values if values.null_count == 0 else values.fill_null(0)
    return present.to_numpy(zero_copy_only=False)


def one_list(values: Any, item: pa.DataType) -> pa.ListArray:
    """Return an array of one list, or of one NULL if values is None."""
    if values is None:
        return pa.array([None], pa.list_(item))
    items = values if isinstance(values, pa.Array) else pa.array(values, item)
    return pa.ListArray.from_arrays(pa.array([0, len(items)], pa.int32()), items)


def one_struct(fields: Mapping[str, pa.Array]) -> pa.StructArray:
    """Return an array of one struct whose fields are arrays of one value each."""
    return pa.StructArray.from_arrays(list(fields.values()), names=list(fields))


def one_map(names: Sequence[str], values: Sequence[pa.Array], item: pa.DataType) -> pa.MapArray:
    """Return an array of one map from names to the value of each array of length 1."""
    items = pa.concat_arrays(values) if values else pa.array([], item)
    keys = pa.array(list(names), pa.string())
    return pa.MapArray.from_arrays(pa.array([0, len(keys)], pa.int32()), keys, items)


def valid(values: pa.Array) -> Any:
    """Return which values are not NULL, bool[n]."""
    if values.null_count == 0:
        return np.ones(len(values), dtype=np.bool_)
    return values.is_valid().to_numpy(zero_copy_only=False)


def true(values: pa.Array) -> Any:
    """Return which values are true, bool[n]; NULL counts as false."""
    return integers(values).astype(np.bool_)


def return_memory() -> None:
    """Return the free pages of the C library's heap.

    glibc keeps freed blocks below some 128 KiB for later small ones. The chunks in which DuckDB
    passes rows are such blocks, and the arrays that follow are larger, so that both would count.
    Does nothing with other C libraries.
    """
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    """Return glibc's malloc_trim, None if there is none."""
    try:
        function: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    except (OSError, TypeError):
        return None
    return function
