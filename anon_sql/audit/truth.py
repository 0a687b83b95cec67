"""What both relations say of the truth of a release, found for a part of the rows at a time.

A released row and the raw rows that it may stem from have the same kept values. Rows are therefore
divided by a hash of these, and memory is that of a part.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from anon_sql.audit import persons
from anon_sql.audit.compared import Compared
from anon_sql.audit.hashed import Marks, Rows
from anon_sql.audit.ranks import ranked
from anon_sql.audit.stems import Slots, Stems, slots, stems, unmatched
from anon_sql.core.labels.coverage import Ints, codes_of, labels_of, narrowest

PAIRS = 2_000_000_000  # of a raw row and a class with the same kept values
ROWS = 1_000_000  # of a part, unless more have one hash


@dataclass
class Truth:
    """more: released rows above the raw rows with their kept values. many: whether too many rows
    share their kept values for the rest.

    false: released rows that cover no raw row with their kept values, of the classes in ``wrong``;
    uncovered: raw rows that no released row covers; left: released rows without a raw row of their
    own, None where that was not found out. Where the release does not say whose its rows are:
    holders: of each part, see ``persons``, None where the raw rows are too many to list; whose: a
    mark of whose each released row is, uint64[m], None where nobody can tell.
    """

    more: int = 0
    many: bool = False
    false: int = 0
    wrong: list[Ints] = field(default_factory=list)
    uncovered: int = 0
    left: int | None = 0
    holders: list[persons.Holders] | None = None
    whose: Marks | None = None


def truth(given: Compared) -> Truth:
    """Compare all rows."""
    told, pairs = Truth(), 0
    if given.asked.entity is not None and not persons.shows(given):
        told.holders, told.whose = [], np.empty(given.shown, np.uint64)
    columns = [ranked(column) for column in given.columns.values()]
    labels = labels_of(columns)
    column = narrowest(columns, [given.raw.often[name] for name in given.columns])
    for raw, released in _parts(given):
        part = _Part(given, raw, released)
        told.more, pairs = told.more + part.slots.more, pairs + part.slots.pairs
        told.many = pairs > PAIRS
        if not told.many:
            places = [given.raw.places[name][raw] for name in given.columns]
            known = stems(part.slots, codes_of(columns, places), labels, column)
            _add(told, part.slots, known)
            _add_persons(told, given, part, known)
    if told.many:
        told.holders = told.whose = None
    return told


def _parts(given: Compared) -> Iterator[tuple[Rows, Rows]]:
    """Yield the places of the raw and of the released rows whose hashes end alike."""
    parts = _count(max(given.rows, given.shown))
    sides = [_divided(given.raw_hashes, given.rows, parts)]
    sides.append(_divided(given.hashes, given.shown, parts))
    for at in range(parts):
        raw, released = (order[starts[at] : starts[at + 1]] for order, starts in sides)
        yield raw, released


def _count(rows: int) -> int:
    """Return into how many parts so many rows are divided, a power of two up to 256."""
    return min(1 << (max(rows - 1, 0) // ROWS).bit_length(), 256)


def _divided(
    hashes: Callable[[Rows], Marks], rows: int, parts: int
) -> tuple[npt.NDArray[np.int32], Ints]:
    """Return the rows part by part, ascending in each, and where the parts start."""
    from anon_sql.kernels.hash.grouping import group

    part = np.empty(rows, np.int32)
    for first in range(0, rows, ROWS):
        some = slice(first, first + ROWS)
        part[some] = hashes(some) & np.uint64(parts - 1)
    found: tuple[npt.NDArray[np.int32], Ints] = group(part, parts)
    return found


class _Part:
    """Some rows of both relations: their places and slots."""

    def __init__(self, given: Compared, raw: Rows, released: Rows) -> None:
        self.raw, self.released = raw, released
        ours, theirs = given.raw_hashes(raw), given.hashes(released)
        self.slots = slots(ours, theirs, given.class_of[released])


def _add(told: Truth, found: Slots, known: Stems) -> None:
    wrong = known.many == 0
    told.false += int(found.capacity[wrong].sum())
    told.wrong.append(np.unique(found.classes[wrong]))
    told.uncovered += known.uncovered
    left = unmatched(found, known, len(found.rows))
    told.left = None if told.left is None or left is None else told.left + left


def _add_persons(told: Truth, given: Compared, part: _Part, known: Stems) -> None:
    if told.holders is None:
        return
    if known.rows is None:
        told.holders = told.whose = None
        return
    who = given.raw_marks(str(given.asked.entity), part.raw)
    told.holders.append(persons.holders(part.slots, known, who))
    if told.whose is None or told.left != 0:  # forced() takes slots that all have raw rows
        told.whose = None
        return
    forced = persons.forced(part.slots, known, who)
    if forced is None:
        told.whose = None
    else:
        told.whose[part.released] = forced
