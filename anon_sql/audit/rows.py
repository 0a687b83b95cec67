"""Audit whether every released row can come from a raw one, a part of the rows at a time.

A released row and its possible source rows have the same kept values. Rows are therefore divided
by a hash of these, so that only one part is in memory.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import numpy.typing as npt

from anon_sql import kernels
from anon_sql.audit import persons
from anon_sql.audit.compared import Compared, Marks, Rows
from anon_sql.audit.persons import (
    CodesOf,
    GroupCounter,
    GroupSources,
    Labels,
    RowGroups,
    sources,
    unmatched,
)
from anon_sql.core.labels.reading import Coverage, Ints, Places, codes_of, labels_of, ranked
from anon_sql.core.running import Workers

PART_ROWS = 1_000_000  # aim for the rows of a part; more if they have one hash


@dataclass(frozen=True)
class RowPart:
    """Positions of distinct raw and released rows, ascending."""

    raw: npt.NDArray[np.int32]
    released: npt.NDArray[np.int32]

    def counted(self, compared: Compared, with_released: bool) -> GroupCounter:
        """Return the rows in groups; with_released: as in ``GroupCounter``."""
        counter = GroupCounter(with_released)
        for rows in _blocks(self.raw):
            counter.add_raw(compared.raw_hashes(rows), compared.raw.weights[rows])
        for rows in _blocks(self.released):
            weights = compared.released.weights[rows]
            counter.add_released(compared.hashes(rows), compared.class_of[rows], weights)
        return counter


def parts(compared: Compared) -> Iterator[RowPart]:
    """Yield parts of the rows, divided by the last bits of their hashes."""
    rows, released_rows = len(compared.raw.weights), len(compared.class_of)
    count = _count(max(rows, released_rows))
    raw, starts = _divided(compared.raw_hashes, rows, count)
    released, ends = _divided(compared.hashes, released_rows, count)
    for number in range(count):
        yield RowPart(
            raw[starts[number] : starts[number + 1]], released[ends[number] : ends[number + 1]]
        )


def _blocks(rows: npt.NDArray[np.int32]) -> Iterator[npt.NDArray[np.int32]]:
    for first in range(0, len(rows), PART_ROWS):
        yield rows[first : first + PART_ROWS]


def _count(rows: int) -> int:
    """Return the number of parts for so many rows, a power of two up to 256."""
    return min(1 << (max(rows - 1, 0) // PART_ROWS).bit_length(), 256)


def _divided(
    hashes: Callable[[Rows], Marks], rows: int, parts: int
) -> tuple[npt.NDArray[np.int32], Ints]:
    """Return the rows part by part, ascending within each, and the starts of the parts."""
    part = np.empty(rows, np.int32)
    for first in range(0, rows, PART_ROWS):
        some = slice(first, first + PART_ROWS)
        part[some] = hashes(some) & np.uint64(parts - 1)
    divided: tuple[npt.NDArray[np.int32], Ints] = kernels.hashing.group(part, parts)
    return divided


MAX_COMPARISONS = 5_000_000_000  # of a label with a row, or with many rows at once


@dataclass
class Truth:
    """The result of comparing all rows.

    more: number of released rows in excess of the raw rows with their kept values. comparisons:
    made so far. false: number of released rows that cover no raw row with their kept values; wrong:
    their classes. uncovered: number of raw rows that no released row covers. unmatched: number of
    released rows that a maximum matching with raw rows leaves; None if unknown.

    If the release lacks the entity column: possible_owners: of each part, None if the source rows
    are too many to list. owners: uint64[m], a hash of the owner of each released row, None if
    unknown.
    """

    more: int = 0
    comparisons: int = 0
    false: int = 0
    wrong: list[Ints] = field(default_factory=list)
    uncovered: int = 0
    unmatched: int | None = 0
    possible_owners: list[persons.PossibleOwners] | None = None
    owners: Marks | None = None

    @property
    def too_many(self) -> bool:
        """Whether too many rows share their kept values to compare them all."""
        return self.comparisons > MAX_COMPARISONS


def truth(compared: Compared, workers: Workers) -> Truth:
    """Compare all rows."""
    true = Truth()
    columns = [ranked(column) for column in compared.columns.values()]
    labels = labels_of(columns)
    if compared.request.entity is not None and not persons.shows_entity(compared):
        true.possible_owners = []
        if (
            compared.released.weights == 1
        ).all():  # otherwise rows of several people may be stored as one
            true.owners = np.empty(len(compared.class_of), np.uint64)
    for part in parts(compared):
        codes = partial(_codes, compared, columns, part.raw)
        _add(true, compared, part, codes, labels, workers)
    if true.too_many:
        true.possible_owners = true.owners = None
    return true


def _codes(
    compared: Compared,
    columns: Sequence[Coverage],
    rows: npt.NDArray[np.int32],
    some: npt.NDArray[np.int32],
) -> Places:
    """Return the codes of ``rows[some]``, int32[…, d]."""
    return codes_of(columns, [compared.raw.places[name][rows[some]] for name in compared.columns])


def _add(
    true: Truth, compared: Compared, part: RowPart, codes: CodesOf, labels: Labels, workers: Workers
) -> None:
    """Compare the rows of a part, unless there were too many comparisons."""
    counted = part.counted(compared, true.owners is not None)
    true.more += counted.more
    if true.too_many:
        return
    groups = counted.groups()
    row_sources = sources(groups, codes, labels, MAX_COMPARISONS - true.comparisons, workers)
    true.comparisons += row_sources.comparisons
    if true.too_many:
        return
    wrong = row_sources.many == 0
    true.false += int(groups.capacity[wrong].sum())
    true.wrong.append(np.unique(groups.classes[wrong]))
    true.uncovered += row_sources.uncovered
    left = unmatched(groups, row_sources)
    true.unmatched = None if true.unmatched is None or left is None else true.unmatched + left
    _add_persons(true, compared, part, groups, row_sources)


def _add_persons(
    true: Truth, compared: Compared, part: RowPart, groups: RowGroups, row_sources: GroupSources
) -> None:
    """Add what the part shows about the owners of its rows."""
    if true.possible_owners is None:
        return
    if row_sources.rows is None:
        true.possible_owners = true.owners = None
        return
    raw_owners = compared.raw_marks(str(compared.request.entity), part.raw)
    true.possible_owners.append(persons.possible_owners(groups, row_sources, raw_owners))
    if (
        true.owners is None or true.unmatched != 0
    ):  # forced_owners() needs source rows for every group
        true.owners = None
        return
    owners = persons.forced_owners(groups, row_sources, raw_owners)
    if owners is None:
        true.owners = None
    else:
        true.owners[part.released] = owners
