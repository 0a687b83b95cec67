"""Place the persons who are new to a series into cohorts: l or more persons, all values different.

Newcomers are divided into leaves by their quasi-identifiers alone. A leaf is halved, again and
again, while its own values promise that few of its persons would wait: whether it is halved depends
on how often each value occurs in it, never on what the halves look like. Within a leaf, cohorts are
formed in a secret random order. So exchanging the values of two members of a cohort changes neither
a leaf nor the probability of any cohort, and who knows the method and the cohorts cannot tell whose
value is whose (theorem on the page about releasing again). Each of these would break it: to halve
where both halves can be divided into cohorts; to choose the nearest partner; to put the rests of
several leaves together; to divide persons who have waited together with others.

Persons for whom a leaf has no partners wait for the next release.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from anon_sql.core.stopping import check
from anon_sql.core.table import QuasiTable

Positions = npt.NDArray[np.int64]
Values = tuple[str, ...]  # of a person: one of each sensitive column

LEAST = 12  # rows of a leaf that is halved
BARE = 0.01  # largest expected share of halves without any cohort
DRAWS = 40  # random deals by which a leaf's own counts are judged


@dataclass(frozen=True)
class Leaf:
    """Persons who were divided together, by position: the members of each cohort, and the rest."""

    cohorts: list[list[int]]
    waiting: list[int]

    @property
    def share(self) -> float:
        """The share of the leaf that waits."""
        return len(self.waiting) / (sum(map(len, self.cohorts)) + len(self.waiting))


def place(
    table: QuasiTable,
    classes: npt.NDArray[np.int32],
    values: Sequence[Values],
    order: Positions,
    l: int,  # noqa: E741 - the field's name for it
    waiting: float,
) -> Iterator[Leaf]:
    """Yield the leaves of a table, divided into cohorts; positions are those of the source.

    classes: int32[n], blind leaves, in canonical order. values: of each person. order: int64[n],
    the secret rank of each person; both in source order. waiting: largest expected share that a
    halved leaf may make wait.
    """
    rank = np.asarray(order)
    for leaf in leaves(table, classes, values, l, waiting):
        check()
        own = leaf[np.argsort(rank[leaf], kind="stable")].tolist()
        cohorts, rest = form([values[at] for at in own], l)
        yield Leaf([[own[at] for at in made] for made in cohorts], [own[at] for at in rest])


def leaves(
    table: QuasiTable,
    classes: npt.NDArray[np.int32],
    values: Sequence[Values],
    l: int,  # noqa: E741
    waiting: float,
) -> Iterator[Positions]:
    """Yield the positions of each leaf, in the source; parameters as in ``place``."""
    by_class = np.argsort(classes, kind="stable")
    todo = np.split(by_class, np.flatnonzero(np.diff(classes[by_class])) + 1)
    while todo:
        rows = todo.pop()
        own = table.order[rows].astype(np.int64)
        if len(rows) >= LEAST and _promises_little([values[at] for at in own], l, waiting):
            halves = halved(table, rows)
            if halves is not None:
                todo += halves
                continue
        yield own


def halved(table: QuasiTable, rows: Positions) -> list[Positions] | None:
    """Return two halves of some canonical positions, near rows together; None if all are alike.

    Two rows far from each other are found, and the rows nearer to either are a half.
    """
    points, most = table.points[rows], table.model.weight

    def away(at: int) -> npt.NDArray[np.float64]:
        return np.asarray(np.minimum(np.abs(points - points[at]), most).sum(1))

    one = int(away(0).argmax())
    here = away(one)
    other = int(here.argmax())
    if here[other] == 0:
        return None
    side = np.argsort(here - away(other), kind="stable")
    middle = len(rows) // 2
    return [rows[np.sort(side[:middle])], rows[np.sort(side[middle:])]]


def _promises_little(values: Sequence[Values], l: int, waiting: float) -> bool:  # noqa: E741
    """Return whether halves of such values, dealt at random, would make few of them wait.

    It depends on how often the values of each column occur, not on who has them or their names.
    """
    for column in zip(*values, strict=True):
        counts = tuple(sorted(Counter(column).values(), reverse=True))
        share, bare = expected(counts, l)
        if share > waiting or bare > BARE:
            return False
    return True


@cache
def _deals(rows: int) -> npt.NDArray[np.int64]:
    """Return DRAWS random orders of so many rows, int64[DRAWS, rows], always the same."""
    keys = np.random.default_rng(rows).random((DRAWS, rows))
    return np.argsort(keys, axis=1)


def expected(counts: tuple[int, ...], l: int) -> tuple[float, float]:  # noqa: E741
    """Return the mean share that waits, and of halves without a cohort, if values are dealt.

    counts: how often each value occurs.
    """
    rows, kinds = sum(counts), len(counts)
    dealt = np.repeat(np.arange(kinds), counts)[_deals(rows)]
    middle = rows // 2
    halves = np.concatenate(
        [
            (part[:, :, None] == np.arange(kinds)).sum(1)
            for part in (dealt[:, :middle], dealt[:, middle:])
        ]
    )
    most = np.arange(halves.max() + 1)
    fits = np.minimum(halves[:, :, None], most).sum(1)  # rows left if no value had more than `most`
    legal = fits >= l * most
    left = np.where(legal, fits, 0).max(1)
    waits = halves.sum(1) - left
    return float(waits.sum() / DRAWS / rows), float((left == 0).mean())


def form(values: Sequence[Values], l: int) -> tuple[list[list[int]], list[int]]:  # noqa: E741
    """Return cohorts of l or more rows, any two of them different in every column, and the rest.

    values: of rows in random order, which breaks all ties. While one value has more than 1/l of the
    rows, one such row waits. Then repeatedly one row of each of the l most frequent values is a
    cohort. What is left joins a cohort that lacks its values, or waits.
    """
    rest, here = _trimmed(values, l)
    groups: dict[Values, list[int]] = defaultdict(list)
    for at in here:
        groups[values[at]].append(at)
    first = {value: at for at, value in enumerate(groups)}
    frequent = _frequencies(groups)
    cohorts: list[list[int]] = []
    while len(groups) >= l:
        ranked = sorted(groups, key=lambda value: (-frequent(value), first[value]))
        chosen = _different(ranked, l)
        if len(chosen) < l:
            break
        cohorts.append([groups[value].pop() for value in chosen])
        groups = {value: rows for value, rows in groups.items() if rows}
        frequent = _frequencies(groups)
    for value, rows in groups.items():
        for at in rows:
            lacking = (c for c in cohorts if _unlike(value, [values[other] for other in c]))
            joined = next(lacking, None)
            (rest if joined is None else joined).append(at)
    return cohorts, rest


def _trimmed(values: Sequence[Values], l: int) -> tuple[list[int], list[int]]:  # noqa: E741
    """Return the rows that wait because their value is too frequent, and the others."""
    here = list(range(len(values)))
    waiting: list[int] = []
    counts = [Counter(column) for column in zip(*values, strict=True)]
    while here:
        often = [max(counted.items(), key=lambda item: item[1]) for counted in counts]
        over = [(many, c) for c, (_, many) in enumerate(often) if many * l > len(here)]
        if not over:
            break
        column = max(over, key=lambda found: (found[0], -found[1]))[1]
        most = {value for value, many in counts[column].items() if many == often[column][1]}
        at = next(at for at in reversed(here) if values[at][column] in most)
        here.remove(at)
        waiting.append(at)
        for counted, value in zip(counts, values[at], strict=True):
            counted[value] -= 1
    return waiting, here


def _frequencies(groups: dict[Values, list[int]]) -> Callable[[Values], int]:
    """Return what says how many rows have a value, of the column in which it is most frequent."""
    counts: dict[tuple[int, str], int] = Counter()
    for value, rows in groups.items():
        for column, one in enumerate(value):
            counts[column, one] += len(rows)
    return lambda value: max(counts[column, one] for column, one in enumerate(value))


def _different(ranked: Sequence[Values], l: int) -> list[Values]:  # noqa: E741
    """Return the first l values that differ from each other in every column, or fewer."""
    chosen: list[Values] = []
    for value in ranked:
        if _unlike(value, chosen):
            chosen.append(value)
        if len(chosen) == l:
            break
    return chosen


def _unlike(value: Values, others: Sequence[Values]) -> bool:
    return all(a != b for other in others for a, b in zip(value, other, strict=True))
