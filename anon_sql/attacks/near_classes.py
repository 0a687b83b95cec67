"""Split persons into small groups, each with the classes of every release that may cover one."""

from collections.abc import Iterator, Sequence

import numpy as np

from anon_sql.attacks.composed import Persons, Release
from anon_sql.core import interrupt
from anon_sql.core.labels.coverage import Ints

_GROUP = 256  # persons

Group = tuple[Ints, list[Ints]]  # the persons, and the classes of each release


def near_classes(function: str, known: Persons, releases: Sequence[Release]) -> Iterator[Group]:
    """Yield groups of at most ``_GROUP`` persons, and of each release the classes that may cover
    one of them.

    A group is cut in two at the median of the column that leaves the least work: persons times
    classes, where a class that reaches over the cut goes to both sides.
    """
    todo: list[Group] = [
        (np.arange(len(known.weights)), [np.arange(len(release.star)) for release in releases])
    ]
    while todo:
        interrupt.check(function)
        persons, classes = todo.pop()
        if len(persons) <= _GROUP:
            if len(persons):
                yield persons, _around(known, releases, persons, classes)
            continue
        todo += _cut(known, releases, persons, classes)


def _cut(
    known: Persons, releases: Sequence[Release], persons: Ints, classes: list[Ints]
) -> list[Group]:
    best, least = None, np.inf
    for column in range(len(known.ranks)):
        sides = _sides(known.low[column, persons])
        if sides is None:
            continue
        groups = [
            (part, _reaching(known, releases, part, classes, column))
            for part in (persons[side] for side in sides)
        ]
        work = sum(len(part) * sum(map(len, near)) for part, near in groups)
        if work < least:
            best, least = groups, work
    if best is None:  # all are alike
        half = len(persons) // 2
        return [(persons[:half], classes), (persons[half:], classes)]
    return best


def _sides(values: Ints) -> tuple[Ints, Ints] | None:
    """Return the places below and above a cut near the median; None if all values are equal."""
    middle = np.partition(values, len(values) // 2)[len(values) // 2]
    cuts = [values < middle, values <= middle]
    below = min(cuts, key=lambda cut: abs(2 * int(cut.sum()) - len(values)))
    if below.all() or not below.any():
        below = next((cut for cut in cuts if cut.any() and not cut.all()), below)
    if below.all() or not below.any():
        return None
    return np.flatnonzero(below), np.flatnonzero(~below)


def _reaching(
    known: Persons, releases: Sequence[Release], persons: Ints, classes: list[Ints], column: int
) -> list[Ints]:
    """Return the classes that reach the persons in one column."""
    low, high = known.low[column, persons].min(), known.high[column, persons].max()
    return [
        near[(release.low[column, near] <= high) & (release.high[column, near] >= low)]
        for release, near in zip(releases, classes, strict=True)
    ]


def _around(
    known: Persons, releases: Sequence[Release], persons: Ints, classes: list[Ints]
) -> list[Ints]:
    """Return the classes that reach the persons in every column."""
    for column in range(len(known.ranks)):
        classes = _reaching(known, releases, persons, classes, column)
    return classes
