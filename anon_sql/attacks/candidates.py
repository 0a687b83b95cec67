"""Find the released rows, and their sensitive values, that may belong to a person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql import kernels
from anon_sql.core import stopping
from anon_sql.core.arrow import integers
from anon_sql.core.hierarchy.column import Hierarchical
from anon_sql.core.labels.reading import MIN_CODE, Coverage, Ints
from anon_sql.core.parameters import OrNull, Whole, param
from anon_sql.core.running import Workers
from anon_sql.privacy.class_values import NULL, ClassValues, ordered

_NOTHING = -1  # the code of NULL, which is no value


@dataclass(frozen=True)
class Sample:
    """Which persons are attacked."""

    sample: int | None = param(
        50_000,
        OrNull(Whole(1)),
        "maximum number of people attacked, drawn at random by seed",
        null="all",
    )
    seed: int = param(42, Whole(0), "seed for random choices")


@dataclass(frozen=True)
class RawGroups:
    """Rows of the raw table, p groups of those that are alike in all that attacks look at.

    group_of: int64[p], the place of the values in each ``Coverage``. keys: of each sensitive column
    bytes, an array of p, see ``TableValues``. counts: int64[p], the rows of each group.
    """

    group_of: Ints
    keys: Mapping[str, pa.Array]
    counts: Ints


class People:
    """All persons, alike ones merged, in an order that depends on what they hold alone.

    columns: of each quasi-identifier; codes int64[p, q]: of each person. own int64[p, s]: the value
    of each sensitive column, numbered through all of them, -1 for NULL; column_of int64[v]: whose
    value that is. sizes int64[m]: rows of each class. starts int64[m + 1], values, counts int64[e]:
    how often each class holds which values.
    """

    def __init__(
        self,
        function: str,
        columns: Sequence[Coverage],
        groups: RawGroups,
        sizes: Ints,
        spreads: Mapping[str, ClassValues],
    ) -> None:
        self.function, self.columns, self.sensitive = function, columns, list(spreads)
        self.sizes = sizes
        self.codes = np.column_stack([column.codes[groups.group_of] for column in columns])
        column_of: list[int] = []
        own, class_values = [], []
        for at, (name, spread) in enumerate(spreads.items()):
            stopping.check(function)
            raw, keys = groups.keys[name], spread.keys
            places, known = ordered(pa.concat_arrays([raw, keys]))
            code = places - int(len(known) > 0 and known[0].as_py() == NULL)
            code = np.where(code < 0, _NOTHING, code + len(column_of))
            column_of += [at] * (len(known) - int((code < 0).any()))
            own.append(code[: len(raw)])
            class_values.append((spread.class_of, code[len(raw) :][spread.key_of], spread.counts))
        self.own = np.column_stack(own)
        self.column_of = np.array(column_of, dtype=np.int64)
        at_, value, counts = (np.concatenate(parts) for parts in zip(*class_values, strict=True))
        kept = np.flatnonzero(value != _NOTHING)
        kept = kept[np.lexsort((value[kept], at_[kept]))]
        self.starts = np.searchsorted(at_[kept], np.arange(len(sizes) + 1))
        self.values, self.counts = value[kept], counts[kept]
        ranks = [_ordering(column)[groups.group_of] for column in columns]
        order = np.lexsort([*self.own.T[::-1], *ranks[::-1]])
        self.tuple_of = np.repeat(order, groups.counts[order])  # of each person

    @property
    def value_counts(self) -> Ints:
        """How often the release holds each sensitive value, int64[v]."""
        total = np.bincount(self.values, self.counts, minlength=len(self.column_of))
        return total.astype(np.int64)

    def sampled(self, options: Sample) -> tuple[Ints, np.random.Generator]:
        """Which persons are attacked, and the random numbers that follow."""
        most, draw = options.sample, np.random.default_rng(options.seed)
        if most is None or most >= len(self.tuple_of):
            return self.tuple_of, draw
        return self.tuple_of[np.sort(draw.choice(len(self.tuple_of), most, replace=False))], draw


def _ordering(column: Coverage) -> Ints:
    """The rank of each value; leaves of a hierarchy as their names sort."""
    if not isinstance(column.column, Hierarchical):
        return column.codes
    tree = column.column.tree
    names = pa.array(tree.names[: tree.leaves])
    rank = np.empty(tree.leaves, dtype=np.int64)
    rank[integers(pc.sort_indices(names))] = np.arange(tree.leaves)
    return np.where(column.codes == MIN_CODE, -1, rank[np.maximum(column.codes, 0)])


_BLOCK = 1024  # persons between two looks at Ctrl-C


@dataclass(frozen=True)
class Matches:
    """rows int64[p]: how many match. Of each sensitive column, int64[p, s]: varied, how many
    values they have; most, how often the most frequent one; ties, how many are as frequent; mine,
    how often the person's own."""

    rows: Ints
    varied: Ints
    most: Ints
    ties: Ints
    mine: Ints


def matches(people: People, persons: Ints, known: Ints, threads: int) -> Matches:
    """persons int64[p]: whom to attack; known int64[p, j]: the columns known of each."""
    known, codes = np.sort(known, axis=1), people.codes[persons]
    values = np.take_along_axis(codes, known, axis=1)
    order = np.lexsort([*values.T, *known.T]) if known.size else np.arange(len(persons))
    known, codes, own = known[order], codes[order], people.own[persons[order]]
    labels = _labels(people.columns)
    class_values = (people.sizes, people.starts, people.values, people.counts)
    found = [np.zeros(len(persons), dtype=np.int64)]
    found += [np.zeros((len(persons), len(people.sensitive)), dtype=np.int64) for _ in range(4)]
    jobs = []
    for first in range(0, len(persons), _BLOCK):
        block = slice(first, first + _BLOCK)
        out = tuple(array[block] for array in found)
        jobs.append(
            (codes[block], known[block], own[block], labels, class_values, people.column_of, out)
        )
    Workers(people.function, threads).map(
        kernels.person_match.match, jobs, [len(job[0]) for job in jobs]
    )
    place = np.argsort(order)
    return Matches(*(array[place] for array in found))


def _labels(columns: Sequence[Coverage]) -> tuple[Ints, ...]:
    """The labels of all columns as ``person_match.match`` takes them."""
    first = np.cumsum([0, *(len(column.low) for column in columns)])
    flat = np.cumsum([0, *(len(column.flat) for column in columns)])
    return (
        np.stack([column.label_of + by for column, by in zip(columns, first, strict=False)]),
        first,
        np.concatenate([column.low for column in columns]),
        np.concatenate([column.high for column in columns]),
        np.concatenate([column.start + by for column, by in zip(columns, flat, strict=False)]),
        np.concatenate([column.end + by for column, by in zip(columns, flat, strict=False)]),
        np.concatenate([column.flat for column in columns]),
    )


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
class ReleasedTuples:
    """The tuples of some columns in the c classes of a release.

    starts: int64[c + 1]; tuples, counts: int64[e], how often each class has which tuple, in one
    entry or more.
    """

    starts: Ints
    tuples: Ints
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
    shown: of each ``View``, None where the release lacks one of its columns.
    """

    low: Ranks
    high: Ranks
    gaps: dict[int, Gaps]
    star: Bools
    shown: Sequence[ReleasedTuples | None]


def release(
    columns: Sequence[Coverage | None], classes: int, shown: Sequence[ReleasedTuples | None]
) -> Release:
    """Return a release. columns: of each quasi-identifier, None where the release lacks it."""
    low = np.zeros((len(columns), classes), dtype=np.int32)
    high = np.full((len(columns), classes), _LAST, dtype=np.int32)
    gaps, stars = {}, []
    for at, column in enumerate(columns):
        stopping.check()
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
    listed = known[rank] == column.flat if len(known) else np.zeros(len(rank), np.bool_)
    label_of = np.where(sizes[column.label_of] > 0, column.label_of, -1)
    keys, size = np.sort((of * len(known) + rank)[listed]), len(sizes) * len(known)
    table = np.bincount(keys, minlength=size) > 0 if size <= _TABLE else None
    return Gaps(label_of, keys, len(known), table)


def ranked(columns: Sequence[Ints]) -> Ranks:
    """Return the codes of each column as ranks, int32[d, n]."""
    ranks = []
    for codes in columns:
        stopping.check()
        ranks.append(np.unique(codes, return_inverse=True)[1].reshape(-1))
    return np.asarray(np.stack(ranks), dtype=np.int32)


def persons(ranks: Ranks, person_of: Ints | None, counts: Ints) -> Persons:
    """Return the persons of n groups of rows.

    ranks: int32[d, n]. person_of: int64[n], from 0, the person of each group; None if each row is a
    person. counts: int64[n], the rows of each group.
    """
    stopping.check()
    distinct, row_of = _distinct(ranks)
    stopping.check()
    if person_of is None:
        rows, weights = np.arange(distinct.shape[1]), np.bincount(row_of, counts, distinct.shape[1])
        starts = np.arange(distinct.shape[1] + 1)
    else:
        rows, starts, weights = _merged(row_of, person_of, distinct.shape[1])
    box = [
        edge(distinct[:, rows], starts[:-1], axis=1) if len(rows) else distinct[:, :0]
        for edge in (np.minimum.reduceat, np.maximum.reduceat)
    ]
    return Persons(distinct, starts, rows, weights.astype(np.int64), *box)


def _distinct(ranks: Ranks) -> tuple[Ranks, Ints]:
    """Return the distinct rows in ascending order, int32[d, t], and which one each row is."""
    order = np.lexsort(ranks[::-1])
    stopping.check()
    ascending = ranks[:, order]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (ascending[:, 1:] != ascending[:, :-1]).any(axis=0)
    row_of = np.empty(len(order), dtype=np.int64)
    row_of[order] = np.cumsum(new) - 1
    return np.ascontiguousarray(ascending[:, new]), row_of


def _merged(row_of: Ints, person_of: Ints, many: int) -> tuple[Ints, Ints, Ints]:
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


Candidates = tuple[Ints, Ints]  # person * tuples + tuple, ascending, and how many rows
Stretches = tuple[Ints, Ints]  # places, and the number of each one's stretch


def covering(known: Persons, persons: Ints, release: Release, classes: Ints) -> tuple[Ints, Ints]:
    """Return which classes of a release cover which persons, as pairs in ascending order, once
    each.

    The first array counts the persons of ``persons``. Suppressed classes cover only persons whom
    no other class covers.
    """
    at, person = stretches(known.starts, persons)
    rows = known.rows[at]
    covered = np.ones((len(rows), len(classes)), dtype=np.bool_)
    for column, ranks in enumerate(known.ranks):
        values = ranks[rows][:, None]
        covered &= (values >= release.low[column, classes]) & (
            values <= release.high[column, classes]
        )
    row, near = np.nonzero(covered)
    for column, gaps in release.gaps.items():
        inside = gaps.inside(classes[near], known.ranks[column, rows[row]])
        row, near = row[inside], near[inside]
    pairs = person[row] * max(len(classes), 1) + near
    if len(rows) > len(persons):
        pairs = np.unique(pairs)
    owner, near = np.divmod(pairs, max(len(classes), 1))
    star = release.star[classes[near]]
    if star.any():
        certain = np.zeros(len(persons), dtype=np.bool_)
        certain[owner[~star]] = True
        kept = ~star | ~certain[owner]
        owner, near = owner[kept], near[kept]
    return owner, classes[near]


def candidates(
    owner: Ints, classes: Ints, shown: ReleasedTuples, persons: int, tuples: int
) -> Candidates:
    """Return the candidates that the classes of each person show.

    owner, classes: of ``covering``; persons, tuples: how many there are.
    """
    at, pair = stretches(shown.starts, classes)
    return summed(owner[pair] * tuples + shown.tuples[at], shown.counts[at], persons * tuples)


def summed(keys: Ints, counts: Ints, size: int) -> Candidates:
    """Return each key below ``size`` once, ascending, with the sum of its counts."""
    if size <= 4 * len(keys) + 65536:
        rows = np.bincount(keys, counts, size).astype(np.int64)
        found = np.flatnonzero(rows)
        return found, rows[found]
    order = np.argsort(keys, kind="stable")
    first = np.flatnonzero(np.diff(keys[order], prepend=-1))
    return keys[order[first]], np.add.reduceat(counts[order], first) if len(first) else counts[:0]


def intersection(found: Sequence[Candidates], persons: int, tuples: int) -> Candidates:
    """Return the candidates left in all releases that show any candidate of the person, each with
    the least number of rows."""
    keys, counts = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.argsort(keys, kind="stable")
    keys, counts = keys[order], counts[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    if not len(first):
        return keys, counts
    times = np.diff(first, append=len(keys))
    everywhere = times == holding(found, persons, tuples)[keys[first] // tuples]
    return keys[first][everywhere], np.minimum.reduceat(counts, first)[everywhere]


def holding(found: Sequence[Candidates], persons: int, tuples: int) -> Ints:
    """Return how many releases show a candidate of each person, int64[p]."""
    times = np.zeros(persons, dtype=np.int64)
    for keys, _ in found:
        times += np.bincount(keys // tuples, minlength=persons) > 0
    return times


def stretches(starts: Ints, chosen: Ints) -> Stretches:
    """Return the places of the chosen stretches, one after the other, and whose each is."""
    sizes = starts[chosen + 1] - starts[chosen]
    of = np.repeat(np.arange(len(chosen)), sizes)
    begin = np.repeat(
        starts[chosen] - np.concatenate([[0], np.cumsum(sizes)[:-1]])[: len(sizes)], sizes
    )
    return begin + np.arange(len(of)), of
