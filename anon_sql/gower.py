"""Gower's distance of two records as SQL calls it: structs in, one number out."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.columns import microseconds, wide
from anon_sql.errors import AnonError, did_you_mean
from anon_sql.registry import udf
from anon_sql.roles import fold


@udf("__anon_gower", "DOUBLE")
def gower(a: Any, b: Any, ranges: Any) -> pa.Array:
    """Gower 1971: the mean over the columns that both records have; NULL where there is none."""
    from anon_sql.kernels.gower import gower_pairs

    left, right = (x.combine_chunks() if isinstance(x, pa.ChunkedArray) else x for x in (a, b))
    if not pa.types.is_struct(left.type) or not pa.types.is_struct(right.type):
        raise AnonError("gower", "a and b must be structs of one record each", str(left.type))
    if len(left) == 0:
        return pa.array([], pa.float64())
    if not pa.types.is_map(ranges.type) or ranges[0].as_py() is None:
        raise AnonError("gower", "ranges must come from gower_ranges()", str(ranges.type))
    width = dict(ranges[0].as_py())
    columns = [_pair(left, right, name, width[name] is None) for name in width]
    found = gower_pairs(
        np.column_stack([pair[0] for pair in columns]),
        np.column_stack([pair[1] for pair in columns]),
        np.array([value is not None for value in width.values()]),
        np.array([value or 0.0 for value in width.values()], dtype=np.float64),
    )
    return pa.array(found, mask=np.isnan(found))


def _pair(
    left: pa.StructArray, right: pa.StructArray, name: str, text: bool
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """One column of both sides as float64[n]: numbers, or codes for text; NULL is NaN."""
    fields = []
    for side in (left, right):
        names = [field.name for field in side.type]
        at = next((i for i, known in enumerate(names) if fold(known) == fold(name)), None)
        if at is None:
            raise AnonError(
                "gower",
                "a record must have every column of ranges",
                f"no {name}",
                did_you_mean(name, names),
            )
        fields.append(side.flatten()[at])
    if text:
        words = [field.cast(pa.string()) for field in fields]
        coded = pa.chunked_array(words).dictionary_encode().combine_chunks()
        both = _floats(coded.indices.cast(pa.int32()), coded.is_valid())
        return both[: len(left)], both[len(left) :]
    numbers = []
    for field in fields:
        approximate = wide("", field)[2] * microseconds(field.type)
        numbers.append(
            np.where(field.is_valid().to_numpy(zero_copy_only=False), approximate, np.nan)
        )
    return numbers[0], numbers[1]


def _floats(indices: pa.Array, present: pa.Array) -> npt.NDArray[np.float64]:
    values = indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.float64)
    return np.where(present.to_numpy(zero_copy_only=False), values, np.nan)
