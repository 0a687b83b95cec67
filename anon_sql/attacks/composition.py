"""What several releases disclose together about the persons of a raw table."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql.attacks.candidates import (
    Candidates,
    Persons,
    Release,
    candidates,
    covering,
    holding,
    intersection,
    summed,
)
from anon_sql.core import stopping
from anon_sql.core.labels.reading import Bools, Ints
from anon_sql.core.parameters import Columns, Number, Whole, declare, param
from anon_sql.measures.pair import PairColumns, SensitiveColumns

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
        stopping.check(function)
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
        stopping.check()
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


ATTACK = (
    "an attack, not a bound: it intersects whole tuples of sensitive and kept columns, but "
    "subtracts no counts"
)
NOTE = f"{ATTACK}; share_of_minima is an estimate"


NAME = "composition"


@dataclass(frozen=True)
class KeptColumns:
    """Which columns of releases were kept unchanged."""

    keep: Any = param(
        None,
        Columns(),
        "kept column or list of columns, in addition to those declared: with the sensitive columns "
        "they are the whole tuple of a row",
        bound=True,
    )


@dataclass(frozen=True)
class Composition:
    """The parameters of ``composition``."""

    id: Any = param(
        None,
        Columns(one=True),
        "column of the raw table that identifies the person",
        null="that each row is a person. A class covers a person with several rows if it covers "
        "one of them. Every row whose id is NULL counts as one person",
    )
    l: int = param(  # noqa: E741 - the field's name for it
        2, Whole(1), "below_l and only_together count people with fewer candidate values than this"
    )
    share: float = param(
        0.5,
        Number(0, 1),
        "share_of_minima counts people for whom one value has a larger share of "
        "the candidates than this",
    )


declare(NAME, Composition, SensitiveColumns, PairColumns, KeptColumns)
COMPOSED = pa.struct(
    [
        ("attribute", pa.string()),
        ("releases", pa.list_(pa.string())),
        *((name, pa.int64()) for name in ("persons", "in_all", "contradicted", "one_value")),
        *((name, pa.int64()) for name in ("below_l", "only_together", "share_of_minima")),
        ("least_values", pa.int64()),
        ("mean_values", pa.float64()),
        ("least_rows", pa.int64()),
        ("note", pa.string()),
    ]
)


@dataclass(frozen=True)
class View:
    """The whole tuples of the columns of one release, as they speak of one sensitive column.

    All releases that have these columns show them. attribute: number of the sensitive column;
    values: int64[t], its value in each of t tuples; many: how many values it has in all releases.
    """

    attribute: int
    values: Ints
    many: int

    @cached_property
    def single(self) -> bool:
        """Whether the tuples are the values."""
        return np.array_equal(self.values, np.arange(self.many))

    def of_values(self, found: Candidates, persons: int) -> Candidates:
        """Return the candidates by value instead of by tuple."""
        if self.single:
            return found
        owner, tuples = np.divmod(found[0], max(len(self.values), 1))
        return summed(owner * self.many + self.values[tuples], found[1], persons * self.many)


@dataclass(frozen=True)
class CandidateCounts:
    """The candidates of p persons, int64[p] each: releases that show some; values; rows; rows of
    the most frequent value."""

    releases: Ints
    values: Ints
    rows: Ints
    most: Ints

    def exposed(self, weights: Ints, least: int) -> tuple[int, int, int]:
        """Return how many persons a release covers, to how many of them fewer than ``least`` values
        are left, and to how many one. weights: how many persons are alike."""
        below = (self.values > 0) & (self.values < least)
        chosen = (self.releases > 0, below, self.values == 1)
        persons, few, one = (int(weights[each].sum()) for each in chosen)
        return persons, few, one


Asked = tuple[int, tuple[int, ...]]  # a sensitive column, and the releases that are compared
Covers = list[tuple[Ints, Ints]]  # of each release, see ``covering``


def all_together(releases: Sequence[Release], views: Sequence[View], attribute: int) -> Asked:
    """Return the releases that show a sensitive column."""
    mine = [at for at, view in enumerate(views) if view.attribute == attribute]
    shown = (any(one.shown[at] is not None for at in mine) for one in releases)
    return attribute, tuple(number for number, shows in enumerate(shown) if shows)


def intersected(
    function: str,
    known: Persons,
    releases: Sequence[Release],
    views: Sequence[View],
    asked: Sequence[Asked],
    seen: Callable[[int, Covers], None] | None = None,
) -> dict[Asked, CandidateCounts]:
    """Return the candidates that releases leave together.

    seen: is told which classes cover each group of persons, and how many these are.
    """
    plans = {each: _plan(releases, views, each) for each in asked}
    results = {
        each: CandidateCounts(*(np.zeros(len(known.weights), dtype=np.int64) for _ in range(4)))
        for each in asked
    }
    for persons, classes in near_classes(function, known, releases):
        covers = [
            covering(known, persons, release, near)
            for release, near in zip(releases, classes, strict=True)
        ]
        if seen is not None:
            seen(len(persons), covers)
        found: dict[tuple[int, int], Candidates] = {}
        for each, plan in plans.items():
            for at, number in ((at, number) for at, numbers in plan for number in numbers):
                shown = releases[number].shown[at]
                if shown is not None and (at, number) not in found:
                    tuples = len(views[at].values)
                    found[at, number] = candidates(*covers[number], shown, len(persons), tuples)
            left = [(views[at], {number: found[at, number] for number in n}) for at, n in plan]
            _note(results[each], persons, left)
    return results


def _plan(
    releases: Sequence[Release], views: Sequence[View], asked: Asked
) -> list[tuple[int, list[int]]]:
    """Return the views to intersect, and the releases that show each.

    A release alone leaves the same values by every view.
    """
    attribute, which = asked
    plan = [
        (at, [number for number in which if releases[number].shown[at] is not None])
        for at, view in enumerate(views)
        if view.attribute == attribute
    ]
    plan = [(at, numbers) for at, numbers in plan if numbers]
    return plan[:1] if len(which) == 1 else plan


def composition(
    function: str,
    known: Persons,
    releases: Sequence[Release],
    names: Sequence[str],
    views: Sequence[View],
    sensitive: Sequence[str],
    least: int,
    share: float,
) -> pa.Table:
    """Return the rows of ``COMPOSED``.

    Source: Ganta et al. (2008), section 3. Departures: a person's candidates are the rows of all
    classes that cover the person, not those of one class, because labels overlap; and they are
    whole tuples, not values.
    """
    asked: list[Asked] = []
    for at in range(len(sensitive)):
        _, having = all_together(releases, views, at)
        asked += [(at, (number,)) for number in having]
        asked += [(at, having)] if len(having) > 1 else []
    results = intersected(function, known, releases, views, asked)
    rows = [
        {
            "attribute": sensitive[at],
            "releases": [names[number] for number in which],
            **_counted(one, known.weights, len(which), least, share),
            "only_together": _only_together(results, at, which, known.weights, least),
            "note": NOTE,
        }
        for (at, which), one in results.items()
    ]
    return pa.Table.from_pylist(rows, pa.schema(list(COMPOSED)))


def _note(
    into: CandidateCounts, persons: Ints, found: Sequence[tuple[View, Mapping[int, Candidates]]]
) -> None:
    """Enter the candidates of some persons, by view and release, into the counts of all."""
    parts, contradicted = [], np.zeros(len(persons), dtype=np.bool_)
    shows: dict[int, Bools] = {}  # by release, to whom it shows a candidate
    for view, of in found:
        shown, tuples = list(of.values()), max(len(view.values), 1)
        shows |= {n: holding([one], len(persons), tuples) > 0 for n, one in of.items()}
        left = intersection(shown, len(persons), tuples) if len(shown) > 1 else shown[0]
        if len(found) > 1:
            gone = np.bincount(left[0] // tuples, minlength=len(persons)) == 0
            contradicted |= gone & (holding(shown, len(persons), tuples) > 0)
        parts.append(view.of_values(left, len(persons)))
    many = max(found[0][0].many, 1)
    keys, rows = intersection(parts, len(persons), many) if len(parts) > 1 else parts[0]
    owner = keys // many
    if contradicted.any():
        owner, rows = owner[~contradicted[owner]], rows[~contradicted[owner]]
    into.releases[persons] = sum(shows.values(), np.zeros(len(persons), dtype=np.int64))
    into.values[persons] = np.bincount(owner, minlength=len(persons))
    into.rows[persons] = np.bincount(owner, rows, len(persons))
    most = np.zeros(len(persons), dtype=np.int64)
    np.maximum.at(most, owner, rows)
    into.most[persons] = most


def _only_together(
    results: Mapping[Asked, CandidateCounts],
    at: int,
    which: tuple[int, ...],
    weights: Ints,
    least: int,
) -> int:
    """Return for how many persons fewer than ``least`` values are left, but not by one release."""
    values = results[at, which].values
    found = (values > 0) & (values < least)
    for number in which:
        alone = results[at, (number,)].values
        found &= (alone == 0) | (alone >= least)
    return int(weights[found].sum())


def _counted(
    counts: CandidateCounts, weights: Ints, releases: int, least: int, share: float
) -> dict[str, object]:
    """Return the columns of a row that are numbers."""
    left = counts.values > 0
    persons = int(weights[left].sum())
    total = float((counts.values * weights).sum())
    return {
        "persons": int(weights[counts.releases > 0].sum()),
        "in_all": int(weights[counts.releases == releases].sum()),
        "contradicted": int(weights[(counts.releases > 0) & ~left].sum()),
        "one_value": int(weights[counts.values == 1].sum()),
        "below_l": int(weights[left & (counts.values < least)].sum()),
        "share_of_minima": int(weights[left & (counts.most > share * counts.rows)].sum()),
        "least_values": int(counts.values[left].min()) if persons else None,
        "mean_values": total / persons if persons else None,
        "least_rows": int(counts.rows[left].min()) if persons else None,
    }
