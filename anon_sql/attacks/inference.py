"""``attack_inference``: count what classes disclose although they have several values.

Nearly all members of a class can have one rare value, a value can be many times as frequent as in
the table, or the numbers of a class can lie close together.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core import stopping
from anon_sql.core.parameters import Number, declare, param
from anon_sql.measures.loss import doubles
from anon_sql.measures.pair import PairColumns, SensitiveColumns
from anon_sql.privacy.class_values import ClassValues, Floats, Ints, TableValues
from anon_sql.privacy.l_diversity import even_values

Bools = npt.NDArray[np.bool_]
NAME = "attack_inference"
RARER_ERRORS = 100  # of the commonest value: how much rarer than in the table an error must be


@dataclass(frozen=True)
class Inference:
    """The parameters of ``attack_inference``."""

    sure: float = param(
        0.8, Number(0, 1), "a value is inferred of a class in which its share is at least this"
    )
    lift: float = param(
        5.0,
        Number(1),
        "a value is lifted in a class in which its share is at least lift times that in the raw "
        "table, and at least lift_share",
    )
    lift_share: float = param(0.3, Number(0, 1), "the least share of a value that is lifted")
    within: float = param(
        0.05,
        Number(0, 1),
        "numbers of a class are near if they differ by at most this share of the distance between "
        "the 5th and the 95th percentile of the raw table",
    )


declare(NAME, Inference, SensitiveColumns, PairColumns)
INFERRED = pa.struct(
    [
        ("attribute", pa.string()),
        ("rows", pa.int64()),
        ("certain", pa.int64()),
        ("certain_share", pa.float64()),
        ("inferred", pa.int64()),
        ("inferred_share", pa.float64()),
        ("lifted", pa.int64()),
        ("lifted_share", pa.float64()),
        ("near", pa.int64()),
        ("near_share", pa.float64()),
        ("even_values", pa.float64()),
    ]
)


class SensitiveColumn(NamedTuple):
    """A sensitive column. spread: its values in classes. table: its values in the raw table.
    numbers: float64[v], these as numbers, arbitrary for NULL; None if they are not numbers."""

    spread: ClassValues
    table: TableValues
    numbers: Floats | None


def inference(columns: Mapping[str, SensitiveColumn], options: Inference) -> pa.Table:
    """Return a row of ``INFERRED`` for each sensitive column; NULL is not a value."""
    table_rows = []
    for name, (spread, table, numbers) in columns.items():
        stopping.check(NAME)
        exposed = _exposed(spread, table, numbers, options)
        rows = int(spread.sizes.sum())
        row: dict[str, Any] = {"attribute": name, "rows": rows}
        for what, classes in exposed.items():
            count = None if classes is None else int(spread.sizes[classes].sum())
            share = None if count is None or not rows else count / rows
            row |= {what: count, f"{what}_share": share}
        counts = _non_null_counts(table)
        even = even_values(counts[counts > 0]) if counts.any() else None
        table_rows.append(row | {"even_values": even})
    return pa.Table.from_pylist(table_rows, pa.schema(list(INFERRED)))


def number_values(sql_type: str, values: pa.Array) -> Floats | None:
    """Return values as numbers, arbitrary for NULL; None unless they are numbers, dates or
    times."""
    kind = values.type
    if pa.types.is_boolean(kind) or not (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_date(kind)
        or pa.types.is_time(kind)
        or pa.types.is_timestamp(kind)
    ):
        return None
    return doubles(sql_type, values)


def _non_null_counts(table: TableValues) -> Ints:
    """Return the counts of the values of a table, 0 for NULL."""
    counts = table.counts.copy()
    if table.nulls:
        counts[0] = 0
    return counts


def _exposed(
    spread: ClassValues, table: TableValues, numbers: Floats | None, options: Inference
) -> dict[str, Bools | None]:
    """Return the classes that expose their members, bool[m], by kind of exposure."""
    many, non_null = len(spread.starts), spread.non_null
    class_of, counts = spread.class_of[non_null], spread.counts[non_null]
    values = np.bincount(class_of, minlength=many)
    non_null_rows = np.bincount(class_of, weights=counts, minlength=many)
    share = counts / np.maximum(non_null_rows[class_of], 1)
    in_table = _non_null_counts(table)
    total = max(int(in_table.sum()), 1)
    place = spread.places(table)[non_null]
    before = np.where(place >= 0, in_table[place] / total if len(in_table) else 0.0, 0.0)
    several = values >= 2
    most = in_table.max(initial=0)
    common = (before * total >= most) & (np.count_nonzero(in_table == most) == 1)
    needed = np.where(common, 1 - (1 - before) / RARER_ERRORS, options.sure)
    sure = np.where(common, np.maximum(needed, options.sure), options.sure)
    lifted = (share >= options.lift_share) & (share >= options.lift * before)
    return {
        "certain": values < 2,
        "inferred": _any(class_of, share >= sure, many) & several,
        "lifted": _any(class_of, lifted, many) & several,
        "near": None
        if numbers is None
        else several & _near(class_of, place, numbers, in_table, many, options.within),
    }


def _any(class_of: Ints, holds: Bools, many: int) -> Bools:
    """Return the classes for which a condition holds at any of their entries, bool[m]."""
    return np.bincount(class_of, holds, many) > 0


def _near(
    class_of: Ints, place: Ints, numbers: Floats, in_table: Ints, many: int, within: float
) -> Bools:
    """Return the classes whose numbers lie close together, bool[m].

    A class with a value that the raw table lacks is not one of them.
    """
    low, high = (_percentile(numbers, in_table, share) for share in (0.05, 0.95))
    least, greatest = np.full(many, np.inf), np.full(many, -np.inf)
    foreign = _any(class_of, place < 0, many)
    values = numbers[place] if len(numbers) else np.zeros(len(place))
    np.minimum.at(least, class_of, values)
    np.maximum.at(greatest, class_of, values)
    with np.errstate(invalid="ignore"):
        close: Bools = greatest - least <= within * (high - low)
    return ~foreign & close


def _percentile(numbers: Floats, counts: Ints, share: float) -> float:
    """Return the least number that at least a share of the rows do not exceed; 0 without rows."""
    present = counts > 0
    if not present.any():
        return 0.0
    order = np.argsort(numbers[present], kind="stable")
    up_to = np.cumsum(counts[present][order])
    return float(numbers[present][order][np.searchsorted(up_to, share * up_to[-1])])
