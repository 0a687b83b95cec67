"""What several releases disclose together about the persons of a raw table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
)
from anon_sql.core import stopping
from anon_sql.core.labels.reading import Ints
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


NOTE = (
    "one attack, not a bound: it compares sets of values of one sensitive column, but neither "
    "counts of rows nor kept columns"
)


NAME = "composition"


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
        2, Whole(1), "below_l and only_together count persons with fewer candidate values than this"
    )
    share: float = param(
        0.5,
        Number(0, 1),
        "above_share counts persons for whom one value has a larger share of "
        "the candidates than this",
    )


declare(NAME, Composition, SensitiveColumns, PairColumns)
COMPOSED = pa.struct(
    [
        ("attribute", pa.string()),
        ("releases", pa.list_(pa.string())),
        *((name, pa.int64()) for name in ("persons", "in_all", "contradicted", "one_value")),
        *((name, pa.int64()) for name in ("below_l", "only_together", "above_share")),
        ("least_values", pa.int64()),
        ("mean_values", pa.float64()),
        ("least_rows", pa.int64()),
        ("note", pa.string()),
    ]
)


@dataclass(frozen=True)
class CandidateCounts:
    """The candidates of p persons, int64[p] each: releases that show some; values; rows; rows of
    the most frequent value."""

    releases: Ints
    values: Ints
    rows: Ints
    most: Ints


def composition(
    function: str,
    known: Persons,
    releases: Sequence[Release],
    names: Sequence[str],
    sensitive: Sequence[tuple[str, int]],
    least: int,
    share: float,
) -> pa.Table:
    """Return the rows of ``COMPOSED``, for each sensitive column and its number of values.

    Source: Ganta et al. (2008), section 3. Departure: a person's candidates are the rows of all
    classes that cover the person, not those of one class, because labels overlap.
    """
    # by sensitive column and releases
    results: dict[tuple[int, tuple[int, ...]], CandidateCounts] = {}
    for at in range(len(sensitive)):
        having = [number for number, one in enumerate(releases) if one.sensitive[at] is not None]
        alone = [(number,) for number in having]
        for chosen in [*alone, tuple(having)] if len(having) > 1 else alone:
            empty = (np.zeros(len(known.weights), dtype=np.int64) for _ in range(4))
            results[at, chosen] = CandidateCounts(*empty)
    for persons, classes in near_classes(function, known, releases):
        covers = [
            covering(known, persons, release, near)
            for release, near in zip(releases, classes, strict=True)
        ]
        for at, (_, values) in enumerate(sensitive):
            found = {}
            for number, (release, pairs) in enumerate(zip(releases, covers, strict=True)):
                class_values = release.sensitive[at]
                if class_values is not None:
                    found[number] = candidates(*pairs, class_values, len(persons), values)
            for (column, which), into in results.items():
                if column == at:
                    _note(into, persons, [found[number] for number in which], values)
    rows = [
        {
            "attribute": sensitive[at][0],
            "releases": [names[number] for number in which],
            **_counted(one, known.weights, len(which), least, share),
            "only_together": _only_together(results, at, which, known.weights, least),
            "note": NOTE,
        }
        for (at, which), one in results.items()
    ]
    return pa.Table.from_pylist(rows, pa.schema(list(COMPOSED)))


def _note(into: CandidateCounts, persons: Ints, found: Sequence[Candidates], values: int) -> None:
    """Enter the candidates of some persons into the counts of all."""
    keys, rows = intersection(found, len(persons), values) if len(found) > 1 else found[0]
    owner = keys // max(values, 1)
    into.releases[persons] = holding(found, len(persons), max(values, 1))
    into.values[persons] = np.bincount(owner, minlength=len(persons))
    into.rows[persons] = np.bincount(owner, rows, len(persons))
    most = np.zeros(len(persons), dtype=np.int64)
    np.maximum.at(most, owner, rows)
    into.most[persons] = most


def _only_together(
    results: Mapping[tuple[int, tuple[int, ...]], CandidateCounts],
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
        "above_share": int(weights[left & (counts.most > share * counts.rows)].sum()),
        "least_values": int(counts.values[left].min()) if persons else None,
        "mean_values": total / persons if persons else None,
        "least_rows": int(counts.rows[left].min()) if persons else None,
    }
