"""Audit whether every released row can come from a raw one, a part of the rows at a time.

What both relations say of the truth of a release, found for a part of the rows at a time. A
released row and the raw rows that it may stem from have the same kept values. Rows are therefore
divided by a hash of these, and memory is that of a part.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import numpy.typing as npt

from anon_sql import kernels
from anon_sql.audit import persons
from anon_sql.audit.compared import Compared, Marks, Rows
from anon_sql.audit.persons import CodesOf, Counted, Labels, RowGroups, Sources, sources, unmatched
from anon_sql.core.labels.reading import Coverage, Ints, Places, codes_of, labels_of, ranked
from anon_sql.core.running import Workers

ROWS = 1_000_000  # of a part, unless more have one hash


@dataclass(frozen=True)
class Part:
    """Places of different raw and released rows, ascending."""

    raw: npt.NDArray[np.int32]
    released: npt.NDArray[np.int32]

    def counted(self, compared: Compared, with_released: bool) -> Counted:
        """Return the rows, counted; with_released: as in ``Counted``."""
        found = Counted(with_released)
        for rows in _blocks(self.raw):
            found.add_raw(compared.raw_hashes(rows), compared.raw.weights[rows])
        for rows in _blocks(self.released):
            weights = compared.released.weights[rows]
            found.add_released(compared.hashes(rows), compared.class_of[rows], weights)
        return found


def parts(compared: Compared) -> Iterator[Part]:
    """Yield the rows whose hashes end alike."""
    rows, released_rows = len(compared.raw.weights), len(compared.class_of)
    count = _count(max(rows, released_rows))
    raw, starts = _divided(compared.raw_hashes, rows, count)
    released, ends = _divided(compared.hashes, released_rows, count)
    for at in range(count):
        yield Part(raw[starts[at] : starts[at + 1]], released[ends[at] : ends[at + 1]])


def _blocks(rows: npt.NDArray[np.int32]) -> Iterator[npt.NDArray[np.int32]]:
    for first in range(0, len(rows), ROWS):
        yield rows[first : first + ROWS]


def _count(rows: int) -> int:
    """Return into how many parts so many rows are divided, a power of two up to 256."""
    return min(1 << (max(rows - 1, 0) // ROWS).bit_length(), 256)


def _divided(
    hashes: Callable[[Rows], Marks], rows: int, parts: int
) -> tuple[npt.NDArray[np.int32], Ints]:
    """Return the rows part by part, ascending in each, and where the parts start."""
    part = np.empty(rows, np.int32)
    for first in range(0, rows, ROWS):
        some = slice(first, first + ROWS)
        part[some] = hashes(some) & np.uint64(parts - 1)
    found: tuple[npt.NDArray[np.int32], Ints] = kernels.hashing.group(part, parts)
    return found


LOOKS = 5_000_000_000  # most comparisons of a label with rows, or with many at once


@dataclass
class Truth:
    """more: released rows above the raw rows with their kept values. looks: comparisons made.

    false: released rows that cover no raw row with their kept values, of the classes in ``wrong``;
    uncovered: raw rows that no released row covers; left: released rows without a raw row of their
    own, None where that was not found out. Where the release does not say whose its rows are:
    holders: of each part, see ``persons``, None where the raw rows are too many to list; whose: a
    mark of the owner of each released row, uint64[m], None where it is not known.
    """

    more: int = 0
    looks: int = 0
    false: int = 0
    wrong: list[Ints] = field(default_factory=list)
    uncovered: int = 0
    left: int | None = 0
    holders: list[persons.Holders] | None = None
    whose: Marks | None = None

    @property
    def many(self) -> bool:
        """Whether too many rows share their kept values for the rest."""
        return self.looks > LOOKS


def truth(compared: Compared, workers: Workers) -> Truth:
    """Compare all rows."""
    true = Truth()
    columns = [ranked(column) for column in compared.columns.values()]
    labels = labels_of(columns)
    if compared.request.entity is not None and not persons.shows(compared):
        true.holders = []
        if (compared.released.weights == 1).all():  # else rows of several people may be held as one
            true.whose = np.empty(len(compared.class_of), np.uint64)
    for part in parts(compared):
        codes = partial(_codes, compared, columns, part.raw)
        _add(true, compared, part, codes, labels, workers)
    if true.many:
        true.holders = true.whose = None
    return true


def _codes(
    compared: Compared,
    columns: Sequence[Coverage],
    rows: npt.NDArray[np.int32],
    some: npt.NDArray[np.int32],
) -> Places:
    """Return the codes of some raw rows, int32[…, d]; some: positions in ``rows``."""
    return codes_of(columns, [compared.raw.places[name][rows[some]] for name in compared.columns])


def _add(
    true: Truth, compared: Compared, part: Part, codes: CodesOf, labels: Labels, workers: Workers
) -> None:
    """Compare the rows of a part, unless it takes too many comparisons."""
    counted = part.counted(compared, true.whose is not None)
    true.more += counted.more
    if true.many:
        return
    found = counted.groups()
    known = sources(found, codes, labels, LOOKS - true.looks, workers)
    true.looks += known.looks
    if true.many:
        return
    wrong = known.many == 0
    true.false += int(found.capacity[wrong].sum())
    true.wrong.append(np.unique(found.classes[wrong]))
    true.uncovered += known.uncovered
    left = unmatched(found, known)
    true.left = None if true.left is None or left is None else true.left + left
    _add_persons(true, compared, part, found, known)


def _add_persons(
    true: Truth, compared: Compared, part: Part, found: RowGroups, known: Sources
) -> None:
    if true.holders is None:
        return
    if known.rows is None:
        true.holders = true.whose = None
        return
    who = compared.raw_marks(str(compared.request.entity), part.raw)
    true.holders.append(persons.holders(found, known, who))
    if true.whose is None or true.left != 0:  # forced() takes groups that all have raw rows
        true.whose = None
        return
    forced = persons.forced(found, known, who)
    if forced is None:
        true.whose = None
    else:
        true.whose[part.released] = forced
