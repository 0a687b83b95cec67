"""Bound the number of people per class if the release lacks the entity column.

A group is the released rows of one class that have the same kept values. A group's source rows are
the raw rows with these kept values that the label of the class covers. Kept values are compared by
64-bit hashes, and groups are numbered as rows arrive, so that the hashes of all rows are never in
memory together.

A person owns at most as many rows of a group as the person has source rows. The least number of
people whose rows suffice for a class is the lower bound, the number of people with any source row
the upper one. If each released row has one source row, the two agree.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql import kernels
from anon_sql.audit.compared import Compared, Marks
from anon_sql.core.labels.covering import covered_rows
from anon_sql.core.labels.reading import Ints, Places
from anon_sql.core.running import Workers
from anon_sql.core.stopping import check


class NumberBuffer:
    """One number per row, in the narrowest type that holds all; rows are added in batches."""

    def __init__(self) -> None:
        self._numbers: npt.NDArray[Any] = np.empty(0, np.uint8)
        self._rows = 0

    def add(self, numbers: npt.NDArray[Any]) -> None:
        """Append the numbers of more rows."""
        self._numbers = self._numbers.astype(
            np.promote_types(self._numbers.dtype, numbers.dtype), copy=False
        )
        end = self._rows + len(numbers)
        if end > len(self._numbers):  # in place, and little more than is needed
            self._numbers.resize(end + end // 8, refcheck=False)
        self._numbers[self._rows : end] = numbers
        self._rows = end

    def decode(self, values: Marks) -> None:
        """Replace each number by the value at that position."""
        self._numbers = values[self.array()]

    def array(self) -> npt.NDArray[Any]:
        """Return the numbers of all rows."""
        self._numbers.resize(self._rows, refcheck=False)
        return self._numbers


class NumberedHashes:
    """Distinct hashes, numbered in order of arrival, with the number of times that each arrived."""

    def __init__(self) -> None:
        self.count = 0
        self._hashes, self._often = np.empty(0, np.uint64), np.empty(0, np.int64)
        self._buckets = np.empty(0, np.int32)

    def add(self, marks: Marks) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32]]:
        """Return the number of each hash, in the narrowest type, and the positions of new
        hashes."""
        if self.count + len(marks) > len(self._hashes):
            self._grow(2 * (self.count + len(marks)))
        numbers, new = kernels.hashing.number_more(
            marks, self._hashes, self._often, self._buckets, self.count
        )
        self.count += len(new)
        return numbers.astype(np.min_scalar_type(self.count)), new

    def _grow(self, size: int) -> None:
        """Make room for ``size`` hashes."""
        hashes, often = self.marks, self.often
        self._hashes, self._often = np.empty(size, np.uint64), np.empty(size, np.int64)
        self._buckets = np.full(1 << (2 * size).bit_length(), -1, np.int32)
        kernels.hashing.number_more(hashes, self._hashes, self._often, self._buckets, 0)
        self._often[: self.count] = often

    @property
    def marks(self) -> Marks:
        return self._hashes[: self.count].copy()

    @property
    def often(self) -> Ints:
        return self._often[: self.count].copy()


Whole = npt.NDArray[np.int32]


@dataclass(frozen=True)
class RowGroups:
    """g groups of released rows that have the same class and kept values.

    classes, capacity: the class of each group and its number of rows. first, last: the raw rows
    with its kept values are ``rows[first:last]``. rows: int32[n], raw rows by hash. released:
    int32[m], released rows group by group; empty unless requested. weights: of the raw rows, as in
    ``Raw``.
    """

    classes: Whole
    capacity: Ints
    first: Ints
    last: Ints
    rows: Whole
    released: Whole
    weights: Whole


class GroupCounter:
    """Groups the rows of both relations as they arrive; all raw rows must come first."""

    def __init__(self, with_released: bool) -> None:
        """with_released: whether to record the released rows of each group."""
        self._hashes, self._raw, self._weights = (
            NumberedHashes(),
            NumberBuffer(),
            [np.empty(0, np.int32)],
        )
        self._above = np.empty(0, np.int64)  # released rows with each hash, less the raw ones
        self._released = NumberBuffer() if with_released else None
        self._latest, self._values, self._owners = (np.empty(0, np.int32) for _ in range(3))
        self._sizes, self._count = np.empty(0, np.int64), 0

    def add_raw(self, marks: Marks, weights: Whole) -> None:
        """Add raw rows; marks: hashes of their kept values; weights: as in ``Raw``."""
        numbers = self._hashes.add(marks)[0]
        self._raw.add(numbers)
        self._weights.append(weights)
        self._count_above(numbers, -weights)

    def _count_above(self, numbers: npt.NDArray[Any], weights: Whole) -> None:
        more = np.zeros(self._hashes.count - len(self._above), np.int64)
        self._above = np.append(self._above, more)
        np.add.at(self._above, numbers.astype(np.int64), weights.astype(np.int64))

    def add_released(self, marks: Marks, classes: Whole, weights: Whole) -> None:
        """Add released rows; classes: int32[…], ascending from call to call; weights: as in
        ``Raw``."""
        numbers = self._hashes.add(marks)[0].astype(np.int32)
        self._count_above(numbers, weights)
        more = np.full(self._hashes.count - len(self._latest), -1, np.int32)
        self._latest = np.append(self._latest, more)
        end = self._count + len(numbers)
        if end > len(self._sizes):  # in place, and little more than is needed
            for column in (self._values, self._owners, self._sizes):
                column.resize(end + end // 8, refcheck=False)
        columns = (self._values, self._owners, self._sizes)
        groups, self._count = kernels.hashing.number_groups(
            numbers, classes, weights, self._latest, *columns, self._count
        )
        if self._released is not None:
            self._released.add(groups)

    @property
    def more(self) -> int:
        """The number of released rows in excess of the raw rows with their hash."""
        return int(np.maximum(self._above, 0).sum())

    def groups(self) -> RowGroups:
        """Return the groups of all rows."""
        order = kernels.orders.by_hash(self._hashes.marks)
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        rows, starts = kernels.hashing.group(place[self._raw.array()], len(order))
        value = place[self._values[: self._count]]
        groups, _ = kernels.hashing.group(value, len(order))
        value = value[groups]
        released = np.empty(0, np.int32)
        if self._released is not None:
            rank = np.empty(len(groups), np.int32)
            rank[groups] = np.arange(len(groups), dtype=np.int32)
            released, _ = kernels.hashing.group(rank[self._released.array()], len(groups))
        classes, capacity = self._owners[groups], self._sizes[groups]
        weights = np.concatenate(self._weights)
        return RowGroups(
            classes, capacity, starts[value], starts[value + 1], rows, released, weights
        )


Labels = tuple[Ints, ...]
CodesOf = Callable[[npt.NDArray[np.int32]], Places]
MAX_LISTED_PAIRS = 50_000_000  # pairs that are kept for the matching
MAX_MATCHING_STEPS = 500_000_000  # looks at a row's groups in the matching
BLOCK_ROWS = 1 << 23  # raw rows that are compared at a time


@dataclass(frozen=True)
class GroupSources:
    """The source rows of each group.

    ends, rows: those of group i are ``rows[ends[i]:ends[i + 1]]``; rows is None if they are too
    many to list. many: the sum of their weights. uncovered: the sum of the weights of raw rows that
    are the source of no group. comparisons: number of comparisons; if it exceeds the limit, the
    other fields are incomplete.
    """

    ends: Ints
    rows: npt.NDArray[np.int32] | None
    many: Ints
    uncovered: int
    comparisons: int


def sources(
    row_groups: RowGroups, codes_of: CodesOf, labels: Labels, max_comparisons: int, workers: Workers
) -> GroupSources:
    """Return the source rows of each group: its raw rows that its label covers.

    codes_of: returns the codes of some raw rows, int32[…, d]. labels: of ``labels_of``.
    """
    groups, uncovered, comparisons = len(row_groups.classes), 0, 0
    many, count = np.zeros(groups, np.int64), np.zeros(groups, np.int64)
    rows = [np.empty(0, np.int32)]
    group_parts = [np.empty(0, np.int32)]  # the group of each of ``rows``
    for begin in range(0, len(row_groups.rows), BLOCK_ROWS):
        some = row_groups.rows[begin : begin + BLOCK_ROWS]
        end = begin + len(some)
        touched = slice(
            np.searchsorted(row_groups.last, begin, "right"), np.searchsorted(row_groups.first, end)
        )
        first, last = (
            np.clip(bound[touched], begin, end) - begin
            for bound in (row_groups.first, row_groups.last)
        )
        codes, weights = codes_of(some), row_groups.weights[some].astype(np.int64)
        covered = covered_rows(
            codes,
            weights,
            first,
            last,
            row_groups.classes[touched],
            labels,
            workers,
            listed=max(MAX_LISTED_PAIRS - int(count.sum()), 0),
            looks=max_comparisons - comparisons,
        )
        comparisons += covered.comparisons
        if comparisons > max_comparisons:
            return GroupSources(np.zeros(groups + 1, np.int64), None, many, 0, comparisons)
        many[touched] += covered.weights
        count[touched] += covered.counts
        uncovered += int(weights[~covered.is_covered].sum())
        if count.sum() <= MAX_LISTED_PAIRS:
            rows.append(some[covered.rows])
            if len(row_groups.rows) > BLOCK_ROWS:
                group_parts.append(
                    np.repeat(np.arange(groups, dtype=np.int32)[touched], covered.counts)
                )
    ends = np.append(0, np.cumsum(count))
    if ends[-1] > MAX_LISTED_PAIRS:
        return GroupSources(ends, None, many, uncovered, comparisons)
    all_rows = np.concatenate(rows)
    if len(row_groups.rows) > BLOCK_ROWS:
        all_rows = all_rows[kernels.hashing.group(np.concatenate(group_parts), groups)[0]]
    return GroupSources(ends, all_rows, many, uncovered, comparisons)


def unmatched(row_groups: RowGroups, row_sources: GroupSources) -> int | None:
    """Return the number of released rows that a maximum matching with raw rows leaves unmatched;
    None if it takes too long."""
    if row_sources.rows is None:
        return None
    total = int(row_groups.capacity.sum())
    order, ends = kernels.hashing.group(row_sources.rows, len(row_groups.rows))
    if (ends[1:] - ends[:-1] <= 1).all():
        return total - int(np.minimum(row_sources.many, row_groups.capacity).sum())
    group_of = np.repeat(
        np.arange(len(row_groups.capacity), dtype=np.int32), np.diff(row_sources.ends)
    )
    weights = row_groups.weights.astype(np.int64)
    count = kernels.matching.matched(
        ends, group_of[order], weights, row_groups.capacity, MAX_MATCHING_STEPS, check
    )
    return None if count < 0 else total - int(count)


class PossibleOwners(NamedTuple):
    """People who may own rows of groups, one entry per person and group.

    class_of: int32[e], the class of the group. people: uint64[e], a hash of the person. most:
    int64[e], the largest number of rows that the person may own there.
    """

    class_of: npt.NDArray[np.int32]
    people: Marks
    most: Ints


def shows_entity(compared: Compared) -> bool:
    """Whether the release has the column that identifies the person."""
    return compared.request.entity in compared.request.shared


def owners(compared: Compared, forced: Marks | None) -> Marks | None:
    """Return a hash of the owner of each released row, uint64[m], class by class.

    None if no model needs it or the owners are unknown. forced: ``Truth.owners``.
    """
    request = compared.request
    if request.entity is None or all(model.same_for_persons for model in request.models):
        return None
    return compared.marks(request.entity) if shows_entity(compared) else forced


def forced_owners(row_groups: RowGroups, row_sources: GroupSources, persons: Marks) -> Marks | None:
    """Return the owner of each released row, or None if the owner of any row is ambiguous.

    A group is unambiguous if it needs all its source rows, or if one person owns them all. persons:
    a hash of the owner of each raw row.
    """
    assert row_sources.rows is not None
    owners = persons[row_sources.rows]
    if not len(owners):
        return owners
    starts = row_sources.ends[:-1]
    single = np.minimum.reduceat(owners, starts) == np.maximum.reduceat(owners, starts)
    if not (single | (row_sources.many == row_groups.capacity)).all():
        return None
    first = np.cumsum(row_groups.capacity) - row_groups.capacity
    position = np.arange(len(row_groups.released)) + np.repeat(starts - first, row_groups.capacity)
    marks = np.empty(len(row_groups.released), dtype=np.uint64)
    marks[row_groups.released] = owners[position]
    return marks


def distinct_owners(
    class_of: npt.NDArray[np.int32], persons: npt.NDArray[np.uint64], classes: int
) -> Ints:
    """Return the number of distinct owners per class, int64[classes]; persons: a hash of the owner
    of each row."""
    order = np.lexsort((persons, class_of))
    class_ids, owners = class_of[order], persons[order]
    new = np.append(True, (class_ids[1:] != class_ids[:-1]) | (owners[1:] != owners[:-1]))[
        : len(class_ids)
    ]
    return np.bincount(class_ids[new], minlength=classes)


def possible_owners(
    row_groups: RowGroups, row_sources: GroupSources, persons: Marks
) -> PossibleOwners:
    """Return the people who own source rows of each group; persons: a hash of the owner of each raw
    row."""
    assert row_sources.rows is not None
    group = np.repeat(np.arange(len(row_groups.capacity)), row_sources.many)
    owners = persons[row_sources.rows]
    order = np.lexsort((owners, group))
    group, owners = group[order], owners[order]
    new = np.append(True, (group[1:] != group[:-1]) | (owners[1:] != owners[:-1]))[: len(group)]
    firsts = np.flatnonzero(new)
    rows = np.diff(np.append(firsts, len(group)))
    group, owners = group[firsts], owners[firsts]
    most = np.minimum(rows, row_groups.capacity[group])
    return PossibleOwners(row_groups.classes[group], owners, most)


def person_bounds(parts: Sequence[PossibleOwners], sizes: Ints) -> tuple[Ints, Ints]:
    """Return bounds of the number of people per class, int64[c] each."""
    class_ids, owners, rows = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((owners, class_ids))
    class_ids, owners, rows = class_ids[order], owners[order], rows[order]
    new = np.append(True, (class_ids[1:] != class_ids[:-1]) | (owners[1:] != owners[:-1]))[
        : len(class_ids)
    ]
    firsts = np.flatnonzero(new)
    if not len(firsts):
        return np.zeros_like(sizes), np.zeros_like(sizes)
    class_ids, supply = class_ids[firsts], np.add.reduceat(rows, firsts)
    order = np.lexsort((-supply, class_ids))
    class_ids, supply = class_ids[order], supply[order]
    most = np.bincount(class_ids, minlength=len(sizes))
    before = np.cumsum(supply) - supply
    starts = np.append(0, np.cumsum(most))[class_ids]
    needed = before - before[starts] < sizes[class_ids]
    return np.bincount(class_ids[needed], minlength=len(sizes)), np.minimum(most, sizes)


def bounds_among(persons: npt.NDArray[np.uint64], rows: int) -> tuple[int, int]:
    """Return bounds of the number of people who own any ``rows`` of the rows of ``persons``."""
    supply = np.sort(np.unique(persons, return_counts=True)[1])[::-1]
    fewest = int(np.searchsorted(np.cumsum(supply), rows)) + 1
    return min(fewest, len(supply)), min(rows, len(supply))
