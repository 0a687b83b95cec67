"""Count what several releases together disclose about the people of a raw table."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from anon_sql.attacks.candidates import (
    Candidates,
    RawPeople,
    ReleaseClasses,
    candidates,
    covering,
    intersection,
    releases_showing,
    summed,
)
from anon_sql.core import stopping
from anon_sql.core.labels.reading import Bools, Ints
from anon_sql.core.parameters import Columns, Number, Whole, declare, param
from anon_sql.measures.pair import PairColumns, SensitiveColumns

_MAX_GROUP_PERSONS = 256  # persons

Group = tuple[Ints, list[Ints]]  # people, and the classes of each release


def near_classes(
    function: str, people: RawPeople, releases: Sequence[ReleaseClasses]
) -> Iterator[Group]:
    """Yield groups of at most ``_MAX_GROUP_PERSONS`` persons, and of each release the classes that
    may cover one of them.

    A group is cut in two at the median of the column that leaves the least work, which is people
    times classes. A class that reaches over the cut goes to both sides.
    """
    todo: list[Group] = [
        (np.arange(len(people.weights)), [np.arange(len(release.star)) for release in releases])
    ]
    while todo:
        stopping.check(function)
        persons, classes = todo.pop()
        if len(persons) <= _MAX_GROUP_PERSONS:
            if len(persons):
                yield persons, _around(people, releases, persons, classes)
            continue
        todo += _cut(people, releases, persons, classes)


def _cut(
    people: RawPeople, releases: Sequence[ReleaseClasses], persons: Ints, classes: list[Ints]
) -> list[Group]:
    best, least = None, np.inf
    for column in range(len(people.ranks)):
        stopping.check()
        sides = _sides(people.low[column, persons])
        if sides is None:
            continue
        groups = [
            (part, _reaching(people, releases, part, classes, column))
            for part in (persons[side] for side in sides)
        ]
        work = sum(len(part) * sum(map(len, near)) for part, near in groups)
        if work < least:
            best, least = groups, work
    if best is None:  # all people have equal values
        half = len(persons) // 2
        return [(persons[:half], classes), (persons[half:], classes)]
    return best


def _sides(values: Ints) -> tuple[Ints, Ints] | None:
    """Return the positions below and above a cut near the median; None if all values are equal."""
    middle = np.partition(values, len(values) // 2)[len(values) // 2]
    cuts = [values < middle, values <= middle]
    below = min(cuts, key=lambda cut: abs(2 * int(cut.sum()) - len(values)))
    if below.all() or not below.any():
        below = next((cut for cut in cuts if cut.any() and not cut.all()), below)
    if below.all() or not below.any():
        return None
    return np.flatnonzero(below), np.flatnonzero(~below)


def _reaching(
    people: RawPeople,
    releases: Sequence[ReleaseClasses],
    persons: Ints,
    classes: list[Ints],
    column: int,
) -> list[Ints]:
    """Return the classes that reach the persons in one column."""
    low, high = people.low[column, persons].min(), people.high[column, persons].max()
    return [
        near[(release.low[column, near] <= high) & (release.high[column, near] >= low)]
        for release, near in zip(releases, classes, strict=True)
    ]


def _around(
    people: RawPeople, releases: Sequence[ReleaseClasses], persons: Ints, classes: list[Ints]
) -> list[Ints]:
    """Return the classes that reach the persons in every column."""
    for column in range(len(people.ranks)):
        classes = _reaching(people, releases, persons, classes, column)
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
    """The tuples of a set of columns, as they disclose one sensitive column.

    Every release with these columns shows them. attribute: index of the sensitive column. values:
    int64[t], its value in each of t tuples. many: number of its values in all releases.
    """

    attribute: int
    values: Ints
    many: int

    @cached_property
    def is_values(self) -> bool:
        """Whether each tuple is one value, so that candidates need no conversion."""
        return np.array_equal(self.values, np.arange(self.many))

    def of_values(self, by_tuple: Candidates, persons: int) -> Candidates:
        """Return the candidates by value instead of by tuple."""
        if self.is_values:
            return by_tuple
        owner, tuples = np.divmod(by_tuple[0], max(len(self.values), 1))
        return summed(owner * self.many + self.values[tuples], by_tuple[1], persons * self.many)


class Exposed(NamedTuple):
    """Numbers of people: covered by a release, with fewer than l candidate values, and with one."""

    persons: int
    below: int
    one: int


@dataclass(frozen=True)
class CandidateCounts:
    """The candidates of p people, int64[p] each. releases: number of releases that show a
    candidate. values: number of candidate values. rows: their rows. most: rows of the most frequent
    value."""

    releases: Ints
    values: Ints
    rows: Ints
    most: Ints

    def exposed(self, weights: Ints, least: int) -> Exposed:
        """Return the number of people whom a release covers, of those with fewer than ``least``
        candidate values, and of those with one; weights: people per entry."""
        below = (self.values > 0) & (self.values < least)
        chosen = (self.releases > 0, below, self.values == 1)
        persons, few, single = (int(weights[some].sum()) for some in chosen)
        return Exposed(persons, few, single)


Comparison = tuple[int, tuple[int, ...]]  # index of a sensitive column, and of compared releases
Covers = list[tuple[Ints, Ints]]  # per release, the result of ``covering``


def all_together(
    releases: Sequence[ReleaseClasses], views: Sequence[View], attribute: int
) -> Comparison:
    """Return the comparison of all releases that show a sensitive column."""
    view_ids = [view_id for view_id, view in enumerate(views) if view.attribute == attribute]
    shown = (
        any(release.shown[view_id] is not None for view_id in view_ids) for release in releases
    )
    return attribute, tuple(number for number, shows in enumerate(shown) if shows)


def intersected(
    function: str,
    people: RawPeople,
    releases: Sequence[ReleaseClasses],
    views: Sequence[View],
    comparisons: Sequence[Comparison],
    on_group: Callable[[int, Covers], None] | None = None,
) -> dict[Comparison, CandidateCounts]:
    """Return, per comparison, the candidates that its releases together leave.

    on_group: is called for each group of people with their number and the classes that cover them.
    """
    plans = {comparison: _plan(releases, views, comparison) for comparison in comparisons}
    results = {
        comparison: CandidateCounts(
            *(np.zeros(len(people.weights), dtype=np.int64) for _ in range(4))
        )
        for comparison in comparisons
    }
    for persons, classes in near_classes(function, people, releases):
        covers = [
            covering(people, persons, release, near)
            for release, near in zip(releases, classes, strict=True)
        ]
        if on_group is not None:
            on_group(len(persons), covers)
        by_view: dict[tuple[int, int], Candidates] = {}
        for comparison, plan in plans.items():
            for view_id, release_id in (
                (view_id, release_id) for view_id, numbers in plan for release_id in numbers
            ):
                shown = releases[release_id].shown[view_id]
                if shown is not None and (view_id, release_id) not in by_view:
                    tuples = len(views[view_id].values)
                    by_view[view_id, release_id] = candidates(
                        *covers[release_id], shown, len(persons), tuples
                    )
            left = [
                (views[view_id], {release_id: by_view[view_id, release_id] for release_id in n})
                for view_id, n in plan
            ]
            _enter(results[comparison], persons, left)
    return results


def _plan(
    releases: Sequence[ReleaseClasses], views: Sequence[View], comparison: Comparison
) -> list[tuple[int, list[int]]]:
    """Return the views to intersect, and the releases that show each.

    One release leaves the same values in every view, so one view is enough for it.
    """
    attribute, release_ids = comparison
    plan = [
        (
            view_id,
            [
                release_id
                for release_id in release_ids
                if releases[release_id].shown[view_id] is not None
            ],
        )
        for view_id, view in enumerate(views)
        if view.attribute == attribute
    ]
    plan = [(view_id, numbers) for view_id, numbers in plan if numbers]
    return plan[:1] if len(release_ids) == 1 else plan


def composition(
    function: str,
    people: RawPeople,
    releases: Sequence[ReleaseClasses],
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
    comparisons: list[Comparison] = []
    for attribute in range(len(sensitive)):
        _, having = all_together(releases, views, attribute)
        comparisons += [(attribute, (release_id,)) for release_id in having]
        comparisons += [(attribute, having)] if len(having) > 1 else []
    results = intersected(function, people, releases, views, comparisons)
    rows = [
        {
            "attribute": sensitive[attribute],
            "releases": [names[release_id] for release_id in release_ids],
            **_counted(counts, people.weights, len(release_ids), least, share),
            "only_together": _only_together(results, attribute, release_ids, people.weights, least),
            "note": NOTE,
        }
        for (attribute, release_ids), counts in results.items()
    ]
    return pa.Table.from_pylist(rows, pa.schema(list(COMPOSED)))


def _enter(
    counts: CandidateCounts, persons: Ints, by_view: Sequence[tuple[View, Mapping[int, Candidates]]]
) -> None:
    """Enter the candidates of some people, by view and release, into the counts of all people."""
    parts, contradicted = [], np.zeros(len(persons), dtype=np.bool_)
    shows: dict[int, Bools] = {}  # by release, the people to whom it shows a candidate
    for view, by_release in by_view:
        shown, tuples = list(by_release.values()), max(len(view.values), 1)
        shows |= {
            n: releases_showing([candidate_keys], len(persons), tuples) > 0
            for n, candidate_keys in by_release.items()
        }
        left = intersection(shown, len(persons), tuples) if len(shown) > 1 else shown[0]
        if len(by_view) > 1:
            has_none = np.bincount(left[0] // tuples, minlength=len(persons)) == 0
            contradicted |= has_none & (releases_showing(shown, len(persons), tuples) > 0)
        parts.append(view.of_values(left, len(persons)))
    many = max(by_view[0][0].many, 1)
    keys, rows = intersection(parts, len(persons), many) if len(parts) > 1 else parts[0]
    owner = keys // many
    if contradicted.any():
        owner, rows = owner[~contradicted[owner]], rows[~contradicted[owner]]
    counts.releases[persons] = sum(shows.values(), np.zeros(len(persons), dtype=np.int64))
    counts.values[persons] = np.bincount(owner, minlength=len(persons))
    counts.rows[persons] = np.bincount(owner, rows, len(persons))
    most = np.zeros(len(persons), dtype=np.int64)
    np.maximum.at(most, owner, rows)
    counts.most[persons] = most


def _only_together(
    results: Mapping[Comparison, CandidateCounts],
    attribute: int,
    release_ids: tuple[int, ...],
    weights: Ints,
    least: int,
) -> int:
    """Count the people with fewer than ``least`` values left by all releases together, but by no
    release alone."""
    values = results[attribute, release_ids].values
    exposed = (values > 0) & (values < least)
    for release_id in release_ids:
        values_of_one = results[attribute, (release_id,)].values
        exposed &= (values_of_one == 0) | (values_of_one >= least)
    return int(weights[exposed].sum())


def _counted(
    counts: CandidateCounts, weights: Ints, releases: int, least: int, share: float
) -> dict[str, object]:
    """Return the numbers of a row of ``COMPOSED``."""
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
