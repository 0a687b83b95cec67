"""Whose the rows of a class are, and how many persons those are where the release does not say.

A person can have given a slot at most as many rows as the person has among those it may stem from.
The fewest persons whose rows are enough for a class are a bound from below, all that could have
given one from above; where every released row can stem from one raw row only, the two agree.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from anon_sql.audit.compared import Compared
from anon_sql.audit.hashed import Marks
from anon_sql.audit.slots import Slots
from anon_sql.audit.stems import Stems
from anon_sql.core.labels.coverage import Ints

Holders = tuple[npt.NDArray[np.int32], Marks, Ints]


def shows(given: Compared) -> bool:
    """Return whether the release still has the column that tells persons apart."""
    return given.asked.entity in given.asked.shared


def whose(given: Compared, forced: Marks | None) -> Marks | None:
    """Return a mark of whose each released row is, uint64[m], class by class.

    None where l and t do not need it or nobody can tell. forced: of ``Truth``.
    """
    asked = given.asked
    if asked.entity is None or (
        asked.t is None and (asked.l is None or asked.l_kind == "distinct")
    ):
        return None
    return given.marks(asked.entity) if shows(given) else forced


def forced(found: Slots, known: Stems, persons: Marks) -> Marks | None:
    """Whose each released row is, where each slot needs all the raw rows that it may stem from or
    they are one person's; None where a slot can choose. persons: a mark for each raw row."""
    assert known.rows is not None
    who = persons[known.rows]
    if not len(who):
        return who
    starts = known.ends[:-1]
    single = np.minimum.reduceat(who, starts) == np.maximum.reduceat(who, starts)
    if not (single | (known.many == found.capacity)).all():
        return None
    first = np.cumsum(found.capacity) - found.capacity
    at = np.arange(len(found.shown)) + np.repeat(starts - first, found.capacity)
    marks = np.empty(len(found.shown), dtype=np.uint64)
    marks[found.shown] = who[at]
    return marks


def counted(class_of: npt.NDArray[np.int32], persons: npt.NDArray[np.uint64], classes: int) -> Ints:
    """Distinct persons of each class, int64[classes], from a mark for each row."""
    order = np.lexsort((persons, class_of))
    of, who = class_of[order], persons[order]
    new = np.append(True, (of[1:] != of[:-1]) | (who[1:] != who[:-1]))[: len(of)]
    return np.bincount(of[new], minlength=classes)


def holders(found: Slots, known: Stems, persons: Marks) -> Holders:
    """Return a class, a person who may have given it rows with some kept values, and how many at
    most, for each such person, class and values. persons: a mark for each raw row."""
    assert known.rows is not None
    slot = np.repeat(np.arange(len(found.capacity)), known.many)
    who = persons[known.rows]
    order = np.lexsort((who, slot))
    slot, who = slot[order], who[order]
    new = np.append(True, (slot[1:] != slot[:-1]) | (who[1:] != who[:-1]))[: len(slot)]
    at = np.flatnonzero(new)
    rows = np.diff(np.append(at, len(slot)))
    slot, who = slot[at], who[at]
    return found.classes[slot], who, np.minimum(rows, found.capacity[slot])


def between(parts: Sequence[Holders], sizes: Ints) -> tuple[Ints, Ints]:
    """Return bounds of the distinct persons in each class, int64[c]."""
    of, who, rows = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((who, of))
    of, who, rows = of[order], who[order], rows[order]
    new = np.append(True, (of[1:] != of[:-1]) | (who[1:] != who[:-1]))[: len(of)]
    at = np.flatnonzero(new)
    if not len(at):
        return np.zeros_like(sizes), np.zeros_like(sizes)
    of, supply = of[at], np.add.reduceat(rows, at)
    order = np.lexsort((-supply, of))
    of, supply = of[order], supply[order]
    most = np.bincount(of, minlength=len(sizes))
    before = np.cumsum(supply) - supply
    starts = np.append(0, np.cumsum(most))[of]
    needed = before - before[starts] < sizes[of]
    return np.bincount(of[needed], minlength=len(sizes)), np.minimum(most, sizes)


def among(persons: npt.NDArray[np.uint64], rows: int) -> tuple[int, int]:
    """Bounds of the distinct persons behind so many rows that may be any of these."""
    supply = np.sort(np.unique(persons, return_counts=True)[1])[::-1]
    fewest = int(np.searchsorted(np.cumsum(supply), rows)) + 1
    return min(fewest, len(supply)), min(rows, len(supply))
