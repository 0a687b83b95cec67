"""Bound the number of persons of each class where the release does not say whose its rows are.

Released rows of one class and the same kept values, which are alike, are a group. The raw rows of a
group are those with its kept values, known by a 64-bit hash. Groups are numbered while
rows come, so that the hashes of all rows are never in memory together.

Which raw rows the rows of a release may stem from, and whether all can at once. The rows of a group
may stem from those of its raw rows that its label covers.

Bound the number of people who own the rows of a class if the entity column is absent. A
person can have given a group at most as many rows as the person has among those it may stem from.
The fewest persons whose rows are enough for a class are a bound from below, all that could have
given one from above; where every released row can stem from one raw row only, the two agree.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql import kernels
from anon_sql.audit.compared import Compared, Marks
from anon_sql.core.labels.reading import Ints, Places, covered_rows
from anon_sql.core.running import Workers
from anon_sql.core.stopping import check


class Numbers:
    """A number of each row, as the rows come."""

    def __init__(self) -> None:
        self._numbers: npt.NDArray[Any] = np.empty(0, np.uint8)
        self._rows = 0

    def add(self, numbers: npt.NDArray[Any]) -> None:
        """Hold the numbers of more rows, in a type that is wide enough for all."""
        self._numbers = self._numbers.astype(
            np.promote_types(self._numbers.dtype, numbers.dtype), copy=False
        )
        end = self._rows + len(numbers)
        if end > len(self._numbers):  # in place, and little more than is needed
            self._numbers.resize(end + end // 8, refcheck=False)
        self._numbers[self._rows : end] = numbers
        self._rows = end

    def decode(self, known: Marks) -> None:
        """Replace each number by what it stands for."""
        self._numbers = known[self.array()]

    def array(self) -> npt.NDArray[Any]:
        """Return the numbers of all rows."""
        self._numbers.resize(self._rows, refcheck=False)
        return self._numbers


class Known:
    """Different hashes, numbered as they come, and how often each came."""

    def __init__(self) -> None:
        self.count = 0
        self._known, self._often = np.empty(0, np.uint64), np.empty(0, np.int64)
        self._buckets = np.empty(0, np.int32)

    def add(self, marks: Marks) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32]]:
        """Return the number of each hash, as narrow as it can be, and the positions of new ones."""
        if self.count + len(marks) > len(self._known):
            self._grow(2 * (self.count + len(marks)))
        numbers, new = kernels.hashing.number_more(
            marks, self._known, self._often, self._buckets, self.count
        )
        self.count += len(new)
        return numbers.astype(np.min_scalar_type(self.count)), new

    def _grow(self, size: int) -> None:
        """Make room for so many hashes."""
        known, often = self.marks, self.often
        self._known, self._often = np.empty(size, np.uint64), np.empty(size, np.int64)
        self._buckets = np.full(1 << (2 * size).bit_length(), -1, np.int32)
        kernels.hashing.number_more(known, self._known, self._often, self._buckets, 0)
        self._often[: self.count] = often

    @property
    def marks(self) -> Marks:
        return self._known[: self.count].copy()

    @property
    def often(self) -> Ints:
        return self._often[: self.count].copy()


Whole = npt.NDArray[np.int32]


@dataclass(frozen=True)
class RowGroups:
    """RowGroups by hash and class: each one's class, how many rows it has, and its raw rows first …
    last - 1 of ``rows``, int32[n] by hash. released: the released rows, int32[m], group by
    group; empty where they were not asked for. weights: of the raw rows, as in ``Raw``."""

    classes: Whole
    capacity: Ints
    first: Ints
    last: Ints
    rows: Whole
    released: Whole
    weights: Whole


class Counted:
    """Some rows of both relations, as they come; all raw rows must come first."""

    def __init__(self, with_released: bool) -> None:
        """with_released: whether the released rows of each group are asked for."""
        self._known, self._raw, self._weights = Known(), Numbers(), [np.empty(0, np.int32)]
        self._above = np.empty(0, np.int64)  # released rows with each hash, less the raw ones
        self._released = Numbers() if with_released else None
        self._latest, self._values, self._owners = (np.empty(0, np.int32) for _ in range(3))
        self._sizes, self._count = np.empty(0, np.int64), 0

    def add_raw(self, marks: Marks, weights: Whole) -> None:
        """Count raw rows; marks: hashes of their kept values; weights: as in ``Raw``."""
        numbers = self._known.add(marks)[0]
        self._raw.add(numbers)
        self._weights.append(weights)
        self._count_above(numbers, -weights)

    def _count_above(self, numbers: npt.NDArray[Any], weights: Whole) -> None:
        more = np.zeros(self._known.count - len(self._above), np.int64)
        self._above = np.append(self._above, more)
        np.add.at(self._above, numbers.astype(np.int64), weights.astype(np.int64))

    def add_released(self, marks: Marks, classes: Whole, weights: Whole) -> None:
        """Count released rows; classes: int32[…], ascending from call to call; weights: as in
        ``Raw``."""
        numbers = self._known.add(marks)[0].astype(np.int32)
        self._count_above(numbers, weights)
        more = np.full(self._known.count - len(self._latest), -1, np.int32)
        self._latest = np.append(self._latest, more)
        end = self._count + len(numbers)
        if end > len(self._sizes):  # in place, and little more than is needed
            for column in (self._values, self._owners, self._sizes):
                column.resize(end + end // 8, refcheck=False)
        found = (self._values, self._owners, self._sizes)
        groups, self._count = kernels.hashing.number_groups(
            numbers, classes, weights, self._latest, *found, self._count
        )
        if self._released is not None:
            self._released.add(groups)

    @property
    def more(self) -> int:
        """How many released rows there are above the raw rows with their hash."""
        return int(np.maximum(self._above, 0).sum())

    def groups(self) -> RowGroups:
        """Return the groups of all rows."""
        order = kernels.orders.by_hash(self._known.marks)
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        rows, starts = kernels.hashing.group(place[self._raw.array()], len(order))
        value = place[self._values[: self._count]]
        groups, _ = kernels.hashing.group(value, len(order))
        value = value[groups]
        released = np.empty(0, np.int32)
        if self._released is not None:
            at = np.empty(len(groups), np.int32)
            at[groups] = np.arange(len(groups), dtype=np.int32)
            released, _ = kernels.hashing.group(at[self._released.array()], len(groups))
        classes, capacity = self._owners[groups], self._sizes[groups]
        weights = np.concatenate(self._weights)
        return RowGroups(
            classes, capacity, starts[value], starts[value + 1], rows, released, weights
        )


Labels = tuple[Ints, ...]
CodesOf = Callable[[npt.NDArray[np.int32]], Places]
LISTED = 50_000_000  # pairs that are kept for the matching
STEPS = 500_000_000  # looks at a row's groups in the matching
ROWS = 1 << 23  # raw rows that are compared at a time


@dataclass(frozen=True)
class Sources:
    """ends, rows: of each group the raw rows that it may stem from; rows is None where they are too
    many to list. many: the sum of their weights. uncovered: that of raw rows that no group may stem
    from. looks: comparisons made; all others are unfinished if these are more than were allowed."""

    ends: Ints
    rows: npt.NDArray[np.int32] | None
    many: Ints
    uncovered: int
    looks: int


def sources(
    found: RowGroups, codes_of: CodesOf, labels: Labels, looks: int, workers: Workers
) -> Sources:
    """Return the raw rows of each group that its label covers.

    codes_of: returns int32[…, d] of some of the rows that the groups are of; labels: of
    ``labels_of``; looks: most comparisons.
    """
    groups, uncovered, looked = len(found.classes), 0, 0
    many, count = np.zeros(groups, np.int64), np.zeros(groups, np.int64)
    rows, of = [np.empty(0, np.int32)], [np.empty(0, np.int32)]  # and the group of each of ``rows``
    for begin in range(0, len(found.rows), ROWS):
        some = found.rows[begin : begin + ROWS]
        end = begin + len(some)
        # the groups that have some of these rows
        own = slice(np.searchsorted(found.last, begin, "right"), np.searchsorted(found.first, end))
        first, last = (np.clip(each[own], begin, end) - begin for each in (found.first, found.last))
        codes, weights = codes_of(some), found.weights[some].astype(np.int64)
        listed, numbers, covers, known, more = covered_rows(
            codes,
            weights,
            first,
            last,
            found.classes[own],
            labels,
            workers,
            listed=max(LISTED - int(count.sum()), 0),
            looks=looks - looked,
        )
        looked += more
        if looked > looks:
            return Sources(np.zeros(groups + 1, np.int64), None, many, 0, looked)
        many[own] += covers
        count[own] += numbers
        uncovered += int(weights[~known].sum())
        if count.sum() <= LISTED:
            rows.append(some[listed])
            if len(found.rows) > ROWS:
                of.append(np.repeat(np.arange(groups, dtype=np.int32)[own], numbers))
    ends = np.append(0, np.cumsum(count))
    if ends[-1] > LISTED:
        return Sources(ends, None, many, uncovered, looked)
    every = np.concatenate(rows)
    if len(found.rows) > ROWS:
        every = every[kernels.hashing.group(np.concatenate(of), groups)[0]]
    return Sources(ends, every, many, uncovered, looked)


def unmatched(found: RowGroups, known: Sources) -> int | None:
    """Return the number of rows that a maximum matching of released and raw rows leaves; None
    where it took too long."""
    if known.rows is None:
        return None
    total = int(found.capacity.sum())
    order, ends = kernels.hashing.group(known.rows, len(found.rows))
    if (ends[1:] - ends[:-1] <= 1).all():
        return total - int(np.minimum(known.many, found.capacity).sum())
    group_of = np.repeat(np.arange(len(found.capacity), dtype=np.int32), np.diff(known.ends))
    weights = found.weights.astype(np.int64)
    count = kernels.matching.matched(ends, group_of[order], weights, found.capacity, STEPS, check)
    return None if count < 0 else total - int(count)


Holders = tuple[npt.NDArray[np.int32], Marks, Ints]


def shows(compared: Compared) -> bool:
    """Return whether the release still has the column that tells persons apart."""
    return compared.request.entity in compared.request.shared


def whose(compared: Compared, forced: Marks | None) -> Marks | None:
    """Return a mark of the owner of each released row, uint64[m], class by class.

    None where no model needs it or the owner is not known. forced: of ``Truth``.
    """
    request = compared.request
    if request.entity is None or all(model.same_for_persons for model in request.models):
        return None
    return compared.marks(request.entity) if shows(compared) else forced


def forced(found: RowGroups, known: Sources, persons: Marks) -> Marks | None:
    """Whose each released row is, where each group needs all the raw rows that it may stem from or
    they are one person's; None where a group can choose. persons: a mark for each raw row."""
    assert known.rows is not None
    who = persons[known.rows]
    if not len(who):
        return who
    starts = known.ends[:-1]
    single = np.minimum.reduceat(who, starts) == np.maximum.reduceat(who, starts)
    if not (single | (known.many == found.capacity)).all():
        return None
    first = np.cumsum(found.capacity) - found.capacity
    at = np.arange(len(found.released)) + np.repeat(starts - first, found.capacity)
    marks = np.empty(len(found.released), dtype=np.uint64)
    marks[found.released] = who[at]
    return marks


def counted(class_of: npt.NDArray[np.int32], persons: npt.NDArray[np.uint64], classes: int) -> Ints:
    """Distinct persons of each class, int64[classes], from a mark for each row."""
    order = np.lexsort((persons, class_of))
    of, who = class_of[order], persons[order]
    new = np.append(True, (of[1:] != of[:-1]) | (who[1:] != who[:-1]))[: len(of)]
    return np.bincount(of[new], minlength=classes)


def holders(found: RowGroups, known: Sources, persons: Marks) -> Holders:
    """Return a class, a person who may have given it rows with some kept values, and how many at
    most, for each such person, class and values. persons: a mark for each raw row."""
    assert known.rows is not None
    group = np.repeat(np.arange(len(found.capacity)), known.many)
    who = persons[known.rows]
    order = np.lexsort((who, group))
    group, who = group[order], who[order]
    new = np.append(True, (group[1:] != group[:-1]) | (who[1:] != who[:-1]))[: len(group)]
    at = np.flatnonzero(new)
    rows = np.diff(np.append(at, len(group)))
    group, who = group[at], who[at]
    return found.classes[group], who, np.minimum(rows, found.capacity[group])


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
