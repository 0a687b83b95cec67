"""Find the released rows, and their sensitive values, that may belong to a person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

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

_NOTHING = -1  # the code of NULL, which is not a value


@dataclass(frozen=True)
class Sample:
    """The parameters that choose the people who are attacked."""

    sample: int | None = param(
        50_000,
        OrNull(Whole(1)),
        "maximum number of people attacked, drawn at random by seed",
        null="all",
    )
    seed: int = param(42, Whole(0), "seed for random choices")


@dataclass(frozen=True)
class RawGroups:
    """p groups of raw rows that are equal in all columns that attacks use.

    group_of: int64[p], the position of the values in each ``Coverage``. keys: of each sensitive
    column, an array of p sort keys, see ``TableValues``. counts: int64[p], the rows of each group.
    """

    group_of: Ints
    keys: Mapping[str, pa.Array]
    counts: Ints


class People:
    """The people of the raw table as p groups with equal values, and the classes of the release.

    columns: of each quasi-identifier. codes: int64[p, q]. person_values: int64[p, s], the value of
    each sensitive column; the values of all columns are numbered together, -1 for NULL. column_of:
    int64[v], the sensitive column of each value. sizes: int64[m], the rows of each class. starts:
    int64[m + 1]; values, counts: int64[e], the values of each class and how often each occurs.
    tuple_of: the group of each person, in an order that depends on values alone.
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
        person_values, class_values = [], []
        for position, (name, spread) in enumerate(spreads.items()):
            stopping.check(function)
            raw, keys = groups.keys[name], spread.keys
            places, distinct = ordered(pa.concat_arrays([raw, keys]))
            code = places - int(len(distinct) > 0 and distinct[0].as_py() == NULL)
            code = np.where(code < 0, _NOTHING, code + len(column_of))
            column_of += [position] * (len(distinct) - int((code < 0).any()))
            person_values.append(code[: len(raw)])
            class_values.append((spread.class_of, code[len(raw) :][spread.key_of], spread.counts))
        none = [np.zeros((len(groups.counts), 0), dtype=np.int64)]
        self.person_values = np.column_stack([*none, *person_values])
        self.column_of = np.array(column_of, dtype=np.int64)
        class_of, value, counts = (
            np.concatenate([np.zeros(0, dtype=np.int64), *parts])
            for parts in (zip(*class_values, strict=True) if class_values else [()] * 3)
        )
        kept = np.flatnonzero(value != _NOTHING)
        kept = kept[np.lexsort((value[kept], class_of[kept]))]
        self.starts = np.searchsorted(class_of[kept], np.arange(len(sizes) + 1))
        self.values, self.counts = value[kept], counts[kept]
        ranks = [_ordering(column)[groups.group_of] for column in columns]
        order = np.lexsort([*self.person_values.T[::-1], *ranks[::-1]])
        self.tuple_of = np.repeat(order, groups.counts[order])

    @property
    def value_counts(self) -> Ints:
        """The number of released rows with each sensitive value, int64[v]."""
        total = np.bincount(self.values, self.counts, minlength=len(self.column_of))
        return total.astype(np.int64)

    def sampled(self, options: Sample) -> tuple[Ints, np.random.Generator]:
        """Return the groups of the people who are attacked, and the generator for further
        choices."""
        draw = np.random.default_rng(options.seed)
        return drawn(self.tuple_of, options.sample, draw), draw

    def commonest_values(self) -> list[Ints]:
        """Return the most frequent values of the release, several if they tie, by sensitive
        column."""
        counts, positions = self.value_counts, range(len(self.sensitive))
        by_column = [np.where(self.column_of == position, counts, 0) for position in positions]
        return [
            np.flatnonzero((of_column == of_column.max(initial=0)) & (of_column > 0))
            for of_column in by_column
        ]


def drawn(values: Ints, most: int | None, draw: np.random.Generator) -> Ints:
    """Return at most so many values, drawn without replacement, in their order; None for all."""
    if most is None or most >= len(values):
        return values
    return values[np.sort(draw.choice(len(values), most, replace=False))]


def _ordering(column: Coverage) -> Ints:
    """Return the rank of each value; leaves of a hierarchy are ranked by name."""
    if not isinstance(column.column, Hierarchical):
        return column.codes
    tree = column.column.tree
    names = pa.array(tree.names[: tree.leaves])
    rank = np.empty(tree.leaves, dtype=np.int64)
    rank[integers(pc.sort_indices(names))] = np.arange(tree.leaves)
    return np.where(column.codes == MIN_CODE, -1, rank[np.maximum(column.codes, 0)])


_BLOCK_PERSONS = 1024  # people per job, and so between two checks for Ctrl-C


@dataclass(frozen=True)
class MatchCounts:
    """The released rows that match each of p people.

    rows: int64[p], their number. The others are int64[p, s], by sensitive column. varied: the
    number of their distinct values. most: rows with the most frequent value. ties: the number of
    values that are as frequent. persons_value: rows with the person's value.
    """

    rows: Ints
    varied: Ints
    most: Ints
    ties: Ints
    persons_value: Ints


def matches(people: People, persons: Ints, known_columns: Ints, threads: int) -> MatchCounts:
    """Return the released rows that match people.

    persons: int64[p], the groups of the people who are attacked. known_columns: int64[p, j], the
    quasi-identifiers that the attacker knows of each. threads: number of threads.
    """
    known_columns, codes = np.sort(known_columns, axis=1), people.codes[persons]
    values = np.take_along_axis(codes, known_columns, axis=1)
    order = (
        np.lexsort([*values.T, *known_columns.T]) if known_columns.size else np.arange(len(persons))
    )
    known_columns, codes, person_values = (
        known_columns[order],
        codes[order],
        people.person_values[persons[order]],
    )
    labels = _labels(people.columns)
    class_values = (people.sizes, people.starts, people.values, people.counts)
    results = [np.zeros(len(persons), dtype=np.int64)]
    results += [np.zeros((len(persons), len(people.sensitive)), dtype=np.int64) for _ in range(4)]
    jobs = []
    for first in range(0, len(persons), _BLOCK_PERSONS):
        block = slice(first, first + _BLOCK_PERSONS)
        out = tuple(array[block] for array in results)
        jobs.append(
            (
                codes[block],
                known_columns[block],
                person_values[block],
                labels,
                class_values,
                people.column_of,
                out,
            )
        )
    Workers(people.function, threads).map(
        kernels.person_match.match, jobs, [len(job[0]) for job in jobs]
    )
    place = np.argsort(order)
    return MatchCounts(*(array[place] for array in results))


def _labels(columns: Sequence[Coverage]) -> tuple[Ints, ...]:
    """Return the labels of all columns in the form that ``person_match.match`` takes."""
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
_MAX_TABLE_BYTES = 1 << 24
_MAX_RANK = np.iinfo(np.int32).max


@dataclass(frozen=True)
class RawPeople:
    """The people of a raw table; those with the same rows are one entry.

    ranks: int32[d, t], the t distinct rows of the d quasi-identifiers as ranks of their values.
    starts: int64[p + 1]; rows: int64[e], the distinct rows of each entry. weights: int64[p], the
    number of people in each entry. low, high: int32[d, p], the bounding box of each entry's rows.
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

    starts: int64[c + 1]; tuples, counts: int64[e], the tuples of each class and how often they
    occur. A tuple can have several entries, whose counts add up.
    """

    starts: Ints
    tuples: Ints
    counts: Ints


@dataclass(frozen=True)
class Gaps:
    """The sets of one quasi-identifier that lack a value between their first and their last.

    label_of: int64[c], the set of each class, -1 if it has no gap. keys: int64[e], ascending, the
    members as set * size + rank. table: bool, whether each possible key is a member; None if it
    would be too large.
    """

    label_of: Ints
    keys: Ints
    size: int
    table: Bools | None

    def inside(self, classes: Ints, ranks: Ranks) -> Bools:
        """Return whether the set of each class has the rank at the same position; True without
        gaps."""
        set_of = self.label_of[classes]
        if not len(self.keys):
            return set_of < 0
        keys = set_of * self.size + ranks
        if self.table is not None:
            return np.asarray((set_of < 0) | self.table[np.maximum(keys, 0)])
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.asarray((set_of < 0) | (self.keys[place] == keys))


@dataclass(frozen=True)
class ReleaseClasses:
    """The classes of one release.

    low, high: int32[d, c], the least and largest rank that each label covers; all ranks if the
    release lacks the column. gaps: by column. star: bool[c], whether every label of the class is
    ``*``. shown: of each ``View``, None if the release lacks one of its columns.
    """

    low: Ranks
    high: Ranks
    gaps: dict[int, Gaps]
    star: Bools
    shown: Sequence[ReleasedTuples | None]


def release(
    columns: Sequence[Coverage | None], classes: int, shown: Sequence[ReleasedTuples | None]
) -> ReleaseClasses:
    """Return a release. columns: of each quasi-identifier, None if the release lacks it."""
    low = np.zeros((len(columns), classes), dtype=np.int32)
    high = np.full((len(columns), classes), _MAX_RANK, dtype=np.int32)
    gaps, stars = {}, []
    for index, column in enumerate(columns):
        stopping.check()
        if column is None:
            continue
        distinct = np.unique(column.codes)
        low[index] = np.searchsorted(distinct, column.low)[column.label_of]
        high[index] = np.searchsorted(distinct, column.high, "right")[column.label_of] - 1
        stars.append(column.star)
        if len(column.flat):
            gaps[index] = _gaps(column, distinct)
    return ReleaseClasses(low, high, gaps, np.asarray(np.logical_and.reduce(stars)), shown)


def _gaps(column: Coverage, distinct: Ints) -> Gaps:
    sizes = column.end - column.start
    order = np.argsort(column.start[sizes > 0], kind="stable")
    set_ids = np.repeat(np.flatnonzero(sizes > 0)[order], sizes[sizes > 0][order])
    rank = np.minimum(np.searchsorted(distinct, column.flat), max(len(distinct) - 1, 0))
    listed = distinct[rank] == column.flat if len(distinct) else np.zeros(len(rank), np.bool_)
    label_of = np.where(sizes[column.label_of] > 0, column.label_of, -1)
    keys, size = np.sort((set_ids * len(distinct) + rank)[listed]), len(sizes) * len(distinct)
    table = np.bincount(keys, minlength=size) > 0 if size <= _MAX_TABLE_BYTES else None
    return Gaps(label_of, keys, len(distinct), table)


def ranked(columns: Sequence[Ints]) -> Ranks:
    """Return the codes of each column as ranks, int32[d, n]."""
    ranks = []
    for codes in columns:
        stopping.check()
        ranks.append(np.unique(codes, return_inverse=True)[1].reshape(-1))
    return np.asarray(np.stack(ranks), dtype=np.int32)


def persons(ranks: Ranks, person_of: Ints | None, counts: Ints) -> RawPeople:
    """Return the people of n groups of equal rows.

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
    return RawPeople(distinct, starts, rows, weights.astype(np.int64), *box)


def _distinct(ranks: Ranks) -> tuple[Ranks, Ints]:
    """Return the distinct rows in ascending order, int32[d, t], and the position of each row's."""
    order = np.lexsort(ranks[::-1])
    stopping.check()
    ascending = ranks[:, order]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (ascending[:, 1:] != ascending[:, :-1]).any(axis=0)
    row_of = np.empty(len(order), dtype=np.int64)
    row_of[order] = np.cumsum(new) - 1
    return np.ascontiguousarray(ascending[:, new]), row_of


class _DistinctPersons(NamedTuple):
    """The fields are those of ``RawPeople``."""

    rows: Ints
    starts: Ints
    weights: Ints


def _merged(row_of: Ints, person_of: Ints, many: int) -> _DistinctPersons:
    """Return the rows, starts and weights of ``RawPeople``. People with a single row are merged if
    the row is the same."""
    keys = np.unique(person_of * max(many, 1) + row_of)
    person, row = np.divmod(keys, max(many, 1))
    several = np.bincount(person)[person] > 1
    single, weights = np.unique(row[~several], return_counts=True)
    first = np.flatnonzero(np.diff(person[several], prepend=-1))
    starts = np.concatenate(
        [np.arange(len(single)), len(single) + first, [len(single) + several.sum()]]
    )
    ones = np.ones(len(first), dtype=np.int64)
    return _DistinctPersons(
        np.concatenate([single, row[several]]),
        starts.astype(np.int64),
        np.concatenate([weights, ones]),
    )


Candidates = tuple[Ints, Ints]  # person * tuples + tuple, ascending, and how many rows
Stretches = tuple[Ints, Ints]  # positions, and for each the index of its stretch


def covering(
    people: RawPeople, persons: Ints, release: ReleaseClasses, classes: Ints
) -> tuple[Ints, Ints]:
    """Return the distinct pairs of a person and a class that covers the person, in ascending order.

    The first array holds positions in ``persons``. A suppressed class covers a person only if no
    other class does.
    """
    positions, person = stretches(people.starts, persons)
    rows = people.rows[positions]
    covered = np.ones((len(rows), len(classes)), dtype=np.bool_)
    for column, ranks in enumerate(people.ranks):
        values = ranks[rows][:, None]
        covered &= (values >= release.low[column, classes]) & (
            values <= release.high[column, classes]
        )
    row, class_ids = np.nonzero(covered)
    for column, gaps in release.gaps.items():
        inside = gaps.inside(classes[class_ids], people.ranks[column, rows[row]])
        row, class_ids = row[inside], class_ids[inside]
    pairs = person[row] * max(len(classes), 1) + class_ids
    if len(rows) > len(persons):
        pairs = np.unique(pairs)
    owner, class_ids = np.divmod(pairs, max(len(classes), 1))
    star = release.star[classes[class_ids]]
    if star.any():
        certain = np.zeros(len(persons), dtype=np.bool_)
        certain[owner[~star]] = True
        kept = ~star | ~certain[owner]
        owner, class_ids = owner[kept], class_ids[kept]
    return owner, classes[class_ids]


def candidates(
    owner: Ints, classes: Ints, shown: ReleasedTuples, persons: int, tuples: int
) -> Candidates:
    """Return the candidates that the classes of each person show.

    owner, classes: the result of ``covering``. persons, tuples: their numbers.
    """
    positions, pair = stretches(shown.starts, classes)
    return summed(
        owner[pair] * tuples + shown.tuples[positions], shown.counts[positions], persons * tuples
    )


def summed(keys: Ints, counts: Ints, size: int) -> Candidates:
    """Return each key below ``size`` once, ascending, with the sum of its counts."""
    if size <= 4 * len(keys) + 65536:
        rows = np.bincount(keys, counts, size).astype(np.int64)
        present = np.flatnonzero(rows)
        return present, rows[present]
    order = np.argsort(keys, kind="stable")
    first = np.flatnonzero(np.diff(keys[order], prepend=-1))
    return keys[order[first]], np.add.reduceat(counts[order], first) if len(first) else counts[:0]


def intersection(by_release: Sequence[Candidates], persons: int, tuples: int) -> Candidates:
    """Return the candidates of each person that are in all releases that show any, each with the
    least number of rows of a release."""
    keys, counts = (np.concatenate(parts) for parts in zip(*by_release, strict=True))
    order = np.argsort(keys, kind="stable")
    keys, counts = keys[order], counts[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    if not len(first):
        return keys, counts
    times = np.diff(first, append=len(keys))
    everywhere = times == releases_showing(by_release, persons, tuples)[keys[first] // tuples]
    return keys[first][everywhere], np.minimum.reduceat(counts, first)[everywhere]


def releases_showing(by_release: Sequence[Candidates], persons: int, tuples: int) -> Ints:
    """Return the number of releases that show a candidate of each person, int64[p]."""
    times = np.zeros(persons, dtype=np.int64)
    for keys, _ in by_release:
        times += np.bincount(keys // tuples, minlength=persons) > 0
    return times


def stretches(starts: Ints, chosen: Ints) -> Stretches:
    """Return the positions in the chosen stretches, one after the other, and the index of each
    position's stretch in ``chosen``."""
    sizes = starts[chosen + 1] - starts[chosen]
    owner = np.repeat(np.arange(len(chosen)), sizes)
    begin = np.repeat(
        starts[chosen] - np.concatenate([[0], np.cumsum(sizes)[:-1]])[: len(sizes)], sizes
    )
    return begin + np.arange(len(owner)), owner
