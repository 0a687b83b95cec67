"""Which raw rows the rows of a release may stem from, and whether all can at once.

Released rows of one class and the same kept values are alike: together they are a slot. The raw
rows of a slot are those with its kept values, told by a 64-bit hash, and those it may stem from are
the ones that its label covers.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_sql.core.labels.coverage import Ints, Places

Labels = tuple[Ints, ...]
LISTED = 50_000_000  # pairs that are kept for the matching
STEPS = 500_000_000  # looks at a row's slots in the matching


@dataclass(frozen=True)
class Slots:
    """Slots by hash and class: each one's class, how many rows it has, and its raw rows first …
    last - 1 of ``rows``, int32[n] by hash. group: where each hash begins among the slots. shown:
    the released rows, int32[m], slot by slot."""

    classes: Ints
    capacity: Ints
    first: Ints
    last: Ints
    rows: npt.NDArray[np.int32]
    group: Ints
    shown: npt.NDArray[np.int32]

    @property
    def more(self) -> int:
        """How many released rows there are above the raw rows with their hash."""
        if not len(self.group):
            return 0
        shown = np.add.reduceat(self.capacity, self.group)
        return int(np.maximum(shown - (self.last - self.first)[self.group], 0).sum())

    @property
    def pairs(self) -> int:
        """How many pairs of a raw row and a slot have the same hash."""
        return int((self.last - self.first).sum())


@dataclass(frozen=True)
class Stems:
    """ends, rows: of each slot the raw rows that it may stem from; rows is None where they are too
    many to list. many: how many they are. uncovered: raw rows that no slot may stem from."""

    ends: Ints
    rows: npt.NDArray[np.int32] | None
    many: Ints
    uncovered: int


def slots(
    raw: npt.NDArray[np.uint64], released: npt.NDArray[np.uint64], class_of: npt.NDArray[np.int32]
) -> Slots:
    """raw uint64[n], released uint64[m]: hashes of kept values; class_of int32[m], ascending."""
    from anon_sql.kernels.legal.label_cover import runs
    from anon_sql.kernels.order.hash_order import by_hash

    rows, order = by_hash(raw), by_hash(released)
    hashes, classes = released[order], class_of[order]
    new_hash = np.append(True, hashes[1:] != hashes[:-1])[: len(hashes)]
    new_slot = new_hash | np.append(True, classes[1:] != classes[:-1])[: len(hashes)]
    at = np.flatnonzero(new_slot)
    first, last = runs(raw[rows], hashes[at])
    capacity = np.diff(np.append(at, len(hashes)))
    return Slots(classes[at], capacity, first, last, rows, np.flatnonzero(new_hash[at]), order)


def stems(found: Slots, codes: Places, labels: Labels, column: int) -> Stems:
    """Return the raw rows of each slot that its label covers.

    codes: int32[n, d] of the rows that the slots are of; labels: of ``labels_of``; column: the one
    in which labels cover the fewest rows.
    """
    from anon_sql.kernels.legal.label_cover import LARGE, covered

    order = found.rows.copy()
    large = found.group[(found.last - found.first)[found.group] > LARGE]
    for first, last in zip(found.first[large], found.last[large], strict=True):
        part = order[first:last]
        order[first:last] = part[np.argsort(codes[part, column])]
    ends, listed, many, known = covered(
        codes, order, found.first, found.last, found.classes, column, labels, LISTED
    )
    whole = listed if int(many.sum()) == len(listed) else None
    return Stems(ends, whole, many, int((~known).sum()))


def unmatched(found: Slots, known: Stems, raw_rows: int) -> int | None:
    """How many released rows are left when as many as can be have a raw row of their own each; None
    where that was not found out."""
    from anon_sql.kernels.legal.capacity_matching import matched

    if known.rows is None:
        return None
    total = int(found.capacity.sum())
    degree = np.bincount(known.rows, minlength=raw_rows)
    if (degree <= 1).all():
        return total - int(np.minimum(known.many, found.capacity).sum())
    slot_of = np.repeat(np.arange(len(found.capacity), dtype=np.int32), known.many)
    slot_of = slot_of[np.argsort(known.rows, kind="stable")]
    count = matched(np.append(0, np.cumsum(degree)), slot_of, found.capacity, STEPS)
    return None if count < 0 else total - int(count)
