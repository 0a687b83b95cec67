"""Placement into cohorts without numba, as the kernels of ``anon_sql.kernels.cohorts`` do it."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

Values = tuple[str, ...]  # of a person: one of each sensitive column


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
