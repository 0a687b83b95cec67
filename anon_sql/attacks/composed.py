"""Persons as boxes and classes as boxes, in the ranks of the raw table's values."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_sql.core.labels.coverage import Coverage, Ints

Bools = npt.NDArray[np.bool_]
Ranks = npt.NDArray[np.int32]
_TABLE = 1 << 24  # bytes
_LAST = np.iinfo(np.int32).max


@dataclass(frozen=True)
class Persons:
    """The persons of a raw table, those that are alike once.

    ranks: int32[d, t], the t distinct rows of the d quasi-identifiers as ranks of their values.
    starts: int64[p + 1]; rows: int64[e], the rows of each person, none twice. weights: int64[p],
    how many persons are alike. low, high: int32[d, p], the box around the rows of each person.
    """

    ranks: Ranks
    starts: Ints
    rows: Ints
    weights: Ints
    low: Ranks
    high: Ranks


@dataclass(frozen=True)
class Shown:
    """The values of one sensitive column in the c classes of a release, without NULL.

    starts: int64[c + 1]; values, counts: int64[e], how often each class has which value.
    """

    starts: Ints
    values: Ints
    counts: Ints


@dataclass(frozen=True)
class Gaps:
    """The sets of one quasi-identifier that lack a value between their first and their last.

    label_of: int64[c], the set of each class, -1 without gaps; keys: int64[e], ascending, the
    members as set * size + rank. table: bool, by key whether it is a member; None if too large.
    """

    label_of: Ints
    keys: Ints
    size: int
    table: Bools | None

    def inside(self, classes: Ints, ranks: Ranks) -> Bools:
        """Return whether the sets of classes hold ranks, pair by pair; True without gaps."""
        of = self.label_of[classes]
        if not len(self.keys):
            return of < 0
        keys = of * self.size + ranks
        if self.table is not None:
            return np.asarray((of < 0) | self.table[np.maximum(keys, 0)])
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.asarray((of < 0) | (self.keys[place] == keys))


@dataclass(frozen=True)
class Release:
    """The classes of one release.

    low, high: int32[d, c], the ranks that each label covers, all of them where the release lacks
    the column. gaps: by column. star: bool[c], suppressed in every column that the release has.
    shown: of each sensitive column, None where the release lacks it.
    """

    low: Ranks
    high: Ranks
    gaps: dict[int, Gaps]
    star: Bools
    shown: Sequence[Shown | None]


def release(
    columns: Sequence[Coverage | None], classes: int, shown: Sequence[Shown | None]
) -> Release:
    """Return a release. columns: of each quasi-identifier, None where the release lacks it."""
    low = np.zeros((len(columns), classes), dtype=np.int32)
    high = np.full((len(columns), classes), _LAST, dtype=np.int32)
    gaps, stars = {}, []
    for at, column in enumerate(columns):
        if column is None:
            continue
        known = np.unique(column.codes)
        low[at] = np.searchsorted(known, column.low)[column.label_of]
        high[at] = np.searchsorted(known, column.high, "right")[column.label_of] - 1
        stars.append(column.star)
        if len(column.flat):
            gaps[at] = _gaps(column, known)
    return Release(low, high, gaps, np.asarray(np.logical_and.reduce(stars)), shown)


def _gaps(column: Coverage, known: Ints) -> Gaps:
    sizes = column.end - column.start
    order = np.argsort(column.start[sizes > 0], kind="stable")
    of = np.repeat(np.flatnonzero(sizes > 0)[order], sizes[sizes > 0][order])
    rank = np.minimum(np.searchsorted(known, column.flat), max(len(known) - 1, 0))
    held = known[rank] == column.flat if len(known) else np.zeros(len(rank), np.bool_)
    label_of = np.where(sizes[column.label_of] > 0, column.label_of, -1)
    keys, whole = np.sort((of * len(known) + rank)[held]), len(sizes) * len(known)
    table = np.bincount(keys, minlength=whole) > 0 if whole <= _TABLE else None
    return Gaps(label_of, keys, len(known), table)


def ranked(columns: Sequence[Ints]) -> Ranks:
    """Return the codes of each column as ranks, int32[d, n]."""
    ranks = [np.unique(codes, return_inverse=True)[1].reshape(-1) for codes in columns]
    return np.asarray(np.stack(ranks), dtype=np.int32)


def persons(ranks: Ranks, person_of: Ints | None, counts: Ints) -> Persons:
    """Return the persons of n groups of rows.

    ranks: int32[d, n]. person_of: int64[n], from 0, the person of each group; None if each row is a
    person. counts: int64[n], the rows of each group.
    """
    known, row_of = np.unique(ranks.T, axis=0, return_inverse=True)
    row_of, distinct = row_of.reshape(-1).astype(np.int64), np.ascontiguousarray(known.T)
    if person_of is None:
        rows, weights = np.arange(len(known)), np.bincount(row_of, counts, len(known))
        starts = np.arange(len(known) + 1)
    else:
        rows, starts, weights = _alike(row_of, person_of, len(known))
    box = [
        edge(distinct[:, rows], starts[:-1], axis=1) if len(rows) else distinct[:, :0]
        for edge in (np.minimum.reduceat, np.maximum.reduceat)
    ]
    return Persons(distinct, starts, rows, weights.astype(np.int64), *box)


def _alike(row_of: Ints, person_of: Ints, many: int) -> tuple[Ints, Ints, Ints]:
    """Return rows, starts and weights of persons, where those of one same row are one."""
    keys = np.unique(person_of * max(many, 1) + row_of)
    person, row = np.divmod(keys, max(many, 1))
    several = np.bincount(person)[person] > 1
    single, weights = np.unique(row[~several], return_counts=True)
    first = np.flatnonzero(np.diff(person[several], prepend=-1))
    starts = np.concatenate(
        [np.arange(len(single)), len(single) + first, [len(single) + several.sum()]]
    )
    ones = np.ones(len(first), dtype=np.int64)
    return (
        np.concatenate([single, row[several]]),
        starts.astype(np.int64),
        np.concatenate([weights, ones]),
    )
