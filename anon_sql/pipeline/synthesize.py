"""Generate synthetic records for rare sensitive values, as positions of values in real rows."""

from collections.abc import Mapping
from math import ceil

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.columns import approximate
from anon_sql.errors import COMMENTS, AnonError, Argument, Where
from anon_sql.methods.generators.bootstrap import Attribute, RealRows
from anon_sql.methods.microaggregation import limits
from anon_sql.methods.sdka import generate
from anon_sql.pipeline.request import Request

_ROUNDING = 1e-9


def synthesize(
    request: Request,
    values: Mapping[str, pa.Array],
    codes: Mapping[str, pa.Array],
) -> dict[str, npt.NDArray[np.int64]]:
    """Return for each released column the rows that the synthetic records take their values from.

    The result has int64[s] positions, from 0, of s synthetic records by column name. Records are
    generated for each sensitive column separately. Source: Majeed and Hwang 2025, SDkA, step 3.

    values: the released columns.
    codes: a hash of each value, NULL for NULL.
    """
    function = request.function
    limits(function)  # before anything is drawn
    names = list(values)
    attributes = [_attribute(name, values[name], codes[name]) for name in names]
    order = np.lexsort([attribute.codes for attribute in attributes])
    attributes = [
        Attribute(a.name, a.codes[order], None if a.numbers is None else a.numbers[order])
        for a in attributes
    ]
    generated = [np.zeros((0, len(names)), dtype=np.int32)]
    for name in request.sensitive:
        sensitive = names.index(name)
        present = codes[name].is_valid().to_numpy(zero_copy_only=False)[order]
        counts = wanted(attributes[sensitive].codes[present], request.options.target_ratio)
        if counts:
            real = RealRows(attributes, sensitive)
            settings = (request.seed, request.options.epochs)
            generated.append(generate(function, request.options.generator, real, counts, *settings))
    records = np.concatenate(generated)
    return {name: order[records[:, sensitive]] for sensitive, name in enumerate(names)}


def require_sensitive(request: Request) -> None:
    """Raise AnonError unless the request has a sensitive column."""
    if not request.sensitive:
        raise AnonError(
            request.function,
            "synthetic records need a sensitive column",
            None,
            "pass " + Argument("sensitive", "illness") + Where(COMMENTS, " or declare it"),
        )


def wanted(codes: npt.NDArray[np.int64], target: float) -> Mapping[int, int]:
    """Return the number of synthetic records of each sensitive value that needs some, by its code.

    Afterwards the most frequent value has at most ``target`` times as many rows as any other.
    Source: Majeed and Hwang 2025, equation 1.
    """
    distinct, counts = np.unique(codes, return_counts=True)
    target_count = ceil(counts.max(initial=0) / target - _ROUNDING)
    pairs = zip(distinct.tolist(), counts.tolist(), strict=True)
    return {code: target_count - count for code, count in pairs if count < target_count}


def _attribute(name: str, values: pa.Array, hashes: pa.Array) -> Attribute:
    """Return a column with codes in the order of the hashes, independent of the order of rows."""
    present = hashes.is_valid().to_numpy(zero_copy_only=False)
    distinct, codes = np.unique(hashes.fill_null(0).to_numpy(), return_inverse=True)
    codes = np.where(present, codes.reshape(-1), len(distinct)).astype(np.int64)
    numbers = _numbers(values)
    return Attribute(name, codes, None if np.isnan(numbers).all() else numbers)


def _numbers(values: pa.Array) -> npt.NDArray[np.float64]:
    """Return numbers, and dates and times in micro- or nanoseconds; NaN for all else."""
    kind = values.type
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        values = values.cast(pa.timestamp("us"), safe=False)
    elif not (pa.types.is_primitive(kind) or pa.types.is_decimal(kind)) or kind == pa.bool_():
        return np.full(len(values), np.nan)
    approximations = approximate("", values)
    missing = ~values.is_valid().to_numpy(zero_copy_only=False) | ~np.isfinite(approximations)
    if pa.types.is_timestamp(values.type):  # the infinite dates and instants
        missing |= np.abs(approximations) >= np.iinfo(np.int64).max
    numbers: npt.NDArray[np.float64] = np.where(missing, np.nan, approximations)
    return numbers
