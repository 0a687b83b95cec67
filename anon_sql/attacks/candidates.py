"""The candidate values of a group of persons, in one release and in all together."""

from collections.abc import Sequence

import numpy as np

from anon_sql.attacks.composed import Persons, Release, Shown
from anon_sql.core.labels.coverage import Ints

Candidates = tuple[Ints, Ints]  # person * values + value, ascending, and how many rows
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


def candidates(owner: Ints, classes: Ints, shown: Shown, persons: int, values: int) -> Candidates:
    """Return the candidates that the classes of each person show in one sensitive column.

    owner, classes: of ``covering``; persons, values: how many there are.
    """
    at, pair = stretches(shown.starts, classes)
    keys, counts = owner[pair] * values + shown.values[at], shown.counts[at]
    if persons * values <= 4 * len(keys) + 65536:
        rows = np.bincount(keys, counts, persons * values).astype(np.int64)
        found = np.flatnonzero(rows)
        return found, rows[found]
    order = np.argsort(keys, kind="stable")
    first = np.flatnonzero(np.diff(keys[order], prepend=-1))
    return keys[order[first]], np.add.reduceat(counts[order], first) if len(first) else counts[:0]


def intersection(found: Sequence[Candidates], persons: int, values: int) -> Candidates:
    """Return the candidates left in all releases that show any candidate of the person, each with
    the least number of rows."""
    keys, counts = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.argsort(keys, kind="stable")
    keys, counts = keys[order], counts[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    if not len(first):
        return keys, counts
    times = np.diff(first, append=len(keys))
    everywhere = times == holding(found, persons, values)[keys[first] // values]
    return keys[first][everywhere], np.minimum.reduceat(counts, first)[everywhere]


def holding(found: Sequence[Candidates], persons: int, values: int) -> Ints:
    """Return how many releases show a candidate of each person, int64[p]."""
    times = np.zeros(persons, dtype=np.int64)
    for keys, _ in found:
        times += np.bincount(keys // values, minlength=persons) > 0
    return times


def stretches(starts: Ints, chosen: Ints) -> Stretches:
    """Return the places of the chosen stretches, one after the other, and whose each is."""
    sizes = starts[chosen + 1] - starts[chosen]
    of = np.repeat(np.arange(len(chosen)), sizes)
    begin = np.repeat(
        starts[chosen] - np.concatenate([[0], np.cumsum(sizes)[:-1]])[: len(sizes)], sizes
    )
    return begin + np.arange(len(of)), of
