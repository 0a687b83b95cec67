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
from anon_sql.audit.persons import CodesOf, Counted, Labels, RowGroups, Sources, stems, unmatched
from anon_sql.core.labels.reading import Coverage, Ints, Places, codes_of, labels_of, ranked

ROWS = 1_000_000  # of a part, unless more have one hash


@dataclass(frozen=True)
class Part:
    """Places of raw and of released rows, ascending."""

    raw: npt.NDArray[np.int32]
    released: npt.NDArray[np.int32]

    def counted(self, given: Compared, shown: bool) -> Counted:
        """Return the rows, counted; shown: as in ``Counted``."""
        found = Counted(shown)
        for rows in _blocks(self.raw):
            found.add_raw(given.raw_hashes(rows))
        for rows in _blocks(self.released):
            found.add_released(given.hashes(rows), given.class_of[rows])
        return found


def parts(given: Compared) -> Iterator[Part]:
    """Yield the rows whose hashes end alike."""
    count = _count(max(given.rows, given.shown))
    raw, starts = _divided(given.raw_hashes, given.rows, count)
    released, ends = _divided(given.hashes, given.shown, count)
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
    mark of whose each released row is, uint64[m], None where nobody can tell.
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


def truth(given: Compared) -> Truth:
    """Compare all rows."""
    told = Truth()
    columns = [ranked(column) for column in given.columns.values()]
    labels = labels_of(columns)
    if given.asked.entity is not None and not persons.shows(given):
        told.holders, told.whose = [], np.empty(given.shown, np.uint64)
    for part in parts(given):
        _add(told, given, part, partial(_codes, given, columns, part.raw), labels)
    if told.many:
        told.holders = told.whose = None
    return told


def _codes(
    given: Compared,
    columns: Sequence[Coverage],
    rows: npt.NDArray[np.int32],
    some: npt.NDArray[np.int32],
) -> Places:
    """Return the codes of some raw rows, int32[…, d]; some: positions in ``rows``."""
    return codes_of(columns, [given.raw.places[name][rows[some]] for name in given.columns])


def _add(told: Truth, given: Compared, part: Part, codes: CodesOf, labels: Labels) -> None:
    """Compare the rows of a part, unless it takes too many comparisons."""
    counted = part.counted(given, told.whose is not None)
    told.more += counted.more
    if told.many:
        return
    found = counted.slots()
    known = stems(found, codes, labels, LOOKS - told.looks)
    told.looks += known.looks
    if told.many:
        return
    wrong = known.many == 0
    told.false += int(found.capacity[wrong].sum())
    told.wrong.append(np.unique(found.classes[wrong]))
    told.uncovered += known.uncovered
    left = unmatched(found, known)
    told.left = None if told.left is None or left is None else told.left + left
    _add_persons(told, given, part, found, known)


def _add_persons(
    told: Truth, given: Compared, part: Part, found: RowGroups, known: Sources
) -> None:
    if told.holders is None:
        return
    if known.rows is None:
        told.holders = told.whose = None
        return
    who = given.raw_marks(str(given.asked.entity), part.raw)
    told.holders.append(persons.holders(found, known, who))
    if told.whose is None or told.left != 0:  # forced() takes slots that all have raw rows
        told.whose = None
        return
    forced = persons.forced(found, known, who)
    if forced is None:
        told.whose = None
    else:
        told.whose[part.released] = forced
