"""Which raw rows the rows of a release may stem from, and whether all can at once.

The rows of a slot may stem from those of its raw rows that its label covers.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_sql.audit.slots import Slots
from anon_sql.core.labels.coverage import Ints, Places

Labels = tuple[Ints, ...]
LISTED = 50_000_000  # pairs that are kept for the matching
STEPS = 500_000_000  # looks at a row's slots in the matching
ROWS = 1 << 21  # raw rows that are compared at a time


@dataclass(frozen=True)
class Stems:
    """ends, rows: of each slot the raw rows that it may stem from; rows is None where they are too
    many to list. many: how many they are. uncovered: raw rows that no slot may stem from."""

    ends: Ints
    rows: npt.NDArray[np.int32] | None
    many: Ints
    uncovered: int


def stems(
    found: Slots, codes_of: Callable[[npt.NDArray[np.int32]], Places], labels: Labels, column: int
) -> Stems:
    """Return the raw rows of each slot that its label covers.

    codes_of: returns int32[…, d] of some of the rows that the slots are of; labels: of
    ``labels_of``; column: the one in which labels cover the fewest rows.
    """
    from anon_sql.kernels.hash.grouping import group
    from anon_sql.kernels.legal.label_cover import covered

    slots, uncovered = len(found.classes), 0
    many = np.zeros(slots, np.int64)
    rows, of = [np.empty(0, np.int32)], [np.empty(0, np.int32)]  # and the slot of each of ``rows``
    for begin in range(0, len(found.rows), ROWS):
        some = found.rows[begin : begin + ROWS]
        end = begin + len(some)
        # the slots that have some of these rows
        own = slice(np.searchsorted(found.last, begin, "right"), np.searchsorted(found.first, end))
        first, last = (np.clip(each[own], begin, end) - begin for each in (found.first, found.last))
        codes = codes_of(some)
        order = _ordered(codes[:, column], first, last)
        left = max(LISTED - int(many.sum()), 0)
        listed, covers, known = covered(
            codes, order, first, last, found.classes[own], column, labels, left
        )
        many[own] += covers
        uncovered += len(some) - int(known.sum())
        if many.sum() <= LISTED:
            rows.append(some[listed])
            if len(found.rows) > ROWS:
                of.append(np.repeat(np.arange(slots, dtype=np.int32)[own], covers))
    ends = np.append(0, np.cumsum(many))
    if ends[-1] > LISTED:
        return Stems(ends, None, many, uncovered)
    every = np.concatenate(rows)
    if len(found.rows) > ROWS:
        every = every[group(np.concatenate(of), slots)[0]]
    return Stems(ends, every, many, uncovered)


def _ordered(codes: Places, first: Ints, last: Ints) -> npt.NDArray[np.int32]:
    """Return the rows, those of slots that have many by code; first, last: of each slot."""
    from anon_sql.kernels.legal.label_cover import LARGE

    order = np.arange(len(codes), dtype=np.int32)
    large = np.flatnonzero((last - first > LARGE) & (np.diff(last, prepend=-1) > 0))
    for begin, end in zip(first[large], last[large], strict=True):
        order[begin:end] = begin + np.argsort(codes[begin:end])
    return order


def unmatched(found: Slots, known: Stems) -> int | None:
    """How many released rows are left when as many as can be have a raw row of their own each; None
    where that was not found out."""
    from anon_sql.kernels.hash.grouping import group
    from anon_sql.kernels.legal.capacity_matching import matched

    if known.rows is None:
        return None
    total = int(found.capacity.sum())
    order, ends = group(known.rows, len(found.rows))
    if (ends[1:] - ends[:-1] <= 1).all():
        return total - int(np.minimum(known.many, found.capacity).sum())
    slot_of = np.repeat(np.arange(len(found.capacity), dtype=np.int32), known.many)
    count = matched(ends, slot_of[order], found.capacity, STEPS)
    return None if count < 0 else total - int(count)
