"""Which raw rows the rows of a release may stem from, and whether all can at once.

The rows of a slot may stem from those of its raw rows that its label covers.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_sql.audit.slots import Slots
from anon_sql.core.labels.coverage import Ints, Places
from anon_sql.core.labels.covered_rows import covered_rows

Labels = tuple[Ints, ...]
CodesOf = Callable[[npt.NDArray[np.int32]], Places]
LISTED = 50_000_000  # pairs that are kept for the matching
STEPS = 500_000_000  # looks at a row's slots in the matching
ROWS = 1 << 23  # raw rows that are compared at a time


@dataclass(frozen=True)
class Stems:
    """ends, rows: of each slot the raw rows that it may stem from; rows is None where they are too
    many to list. many: how many they are. uncovered: raw rows that no slot may stem from. looks:
    comparisons made; all others are unfinished if these are more than were allowed."""

    ends: Ints
    rows: npt.NDArray[np.int32] | None
    many: Ints
    uncovered: int
    looks: int


def stems(found: Slots, codes_of: CodesOf, labels: Labels, looks: int) -> Stems:
    """Return the raw rows of each slot that its label covers.

    codes_of: returns int32[…, d] of some of the rows that the slots are of; labels: of
    ``labels_of``; looks: most comparisons.
    """
    from anon_sql.kernels.hash.grouping import group

    slots, uncovered, looked = len(found.classes), 0, 0
    many = np.zeros(slots, np.int64)
    rows, of = [np.empty(0, np.int32)], [np.empty(0, np.int32)]  # and the slot of each of ``rows``
    for begin in range(0, len(found.rows), ROWS):
        some = found.rows[begin : begin + ROWS]
        end = begin + len(some)
        # the slots that have some of these rows
        own = slice(np.searchsorted(found.last, begin, "right"), np.searchsorted(found.first, end))
        first, last = (np.clip(each[own], begin, end) - begin for each in (found.first, found.last))
        codes = codes_of(some)
        listed, covers, known, more = covered_rows(
            codes,
            np.ones(len(some), np.int64),
            first,
            last,
            found.classes[own],
            labels,
            listed=max(LISTED - int(many.sum()), 0),
            looks=looks - looked,
        )
        looked += more
        if looked > looks:
            return Stems(np.zeros(slots + 1, np.int64), None, many, 0, looked)
        many[own] += covers
        uncovered += len(some) - int(known.sum())
        if many.sum() <= LISTED:
            rows.append(some[listed])
            if len(found.rows) > ROWS:
                of.append(np.repeat(np.arange(slots, dtype=np.int32)[own], covers))
    ends = np.append(0, np.cumsum(many))
    if ends[-1] > LISTED:
        return Stems(ends, None, many, uncovered, looked)
    every = np.concatenate(rows)
    if len(found.rows) > ROWS:
        every = every[group(np.concatenate(of), slots)[0]]
    return Stems(ends, every, many, uncovered, looked)


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
