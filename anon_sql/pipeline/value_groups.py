"""Groups of sensitive values that classes show whole; see ``invariance``."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

Groups = list[list[bytes]]
Codes = npt.NDArray[np.int32]


def first_groups(counts: Mapping[bytes, int], least: int, k: int) -> Groups:
    """Return groups of ``least`` to 2 * ``least`` - 1 values of like frequency; one group if there
    are fewer values.

    counts: the rows of each value. A class has a row of each value of its group, so a group has at
    most as many classes as rows of its rarest value. The values are ordered by frequency and cut
    (dynamic programming) where the sum of rows / sqrt(classes) is least, an estimate of the loss.
    """
    values = sorted(counts, key=lambda value: (-counts[value], value))
    if len(values) < 2 * least:
        return [values] if values else []
    below = np.cumsum([0, *(counts[value] for value in values)])
    best: list[tuple[float, int]] = [
        (0.0, 0)
    ]  # of the first values: cost, and the last group's start
    for end in range(1, len(values) + 1):
        found = [
            (
                best[start][0] + _cost(int(below[end] - below[start]), counts[values[end - 1]], k),
                start,
            )
            for start in range(max(0, end - 2 * least + 1), end - least + 1)
        ]
        best.append(min(found, default=(np.inf, 0)))
    groups, end = [], len(values)
    while end:
        groups.append(values[best[end][1] : end])
        end = best[end][1]
    return groups


def _cost(rows: int, rarest: int, k: int) -> float:
    return float(rows / np.sqrt(max(1, min(rows // k, rarest))))


def earlier_groups(classes: Sequence[set[bytes]]) -> Groups:
    """Return the groups of values that are in the same classes of an earlier release."""
    within = defaultdict(list)
    for at, values in enumerate(classes):
        for value in values:
            within[value].append(at)
    together = defaultdict(list)
    for value in sorted(within):
        together[tuple(within[value])].append(value)
    return list(together.values())


def large_groups(groups: Groups, counts: Mapping[bytes, int], k: int) -> Groups:
    """Return groups of at least k rows each; smaller ones join the next smallest."""
    parts = sorted(groups, key=lambda group: -_rows(group, counts))
    while len(parts) > 1 and _rows(parts[-1], counts) < k:
        parts[-2:] = [parts[-2] + parts[-1]]
    return parts


def _rows(group: list[bytes], counts: Mapping[bytes, int]) -> int:
    return sum(counts.get(value, 0) for value in group)


def broken_classes(classes: Codes, groups: Codes, values: Codes, known: int) -> int:
    """Return how many classes show a value of a group but not all of them.

    classes, groups, values: int32[n], of each row; values from ``known`` on are none.
    """
    held = values < known
    class_of, group_of, value_of = (
        each[held].astype(np.int64) for each in (classes, groups, values)
    )
    wide = max(known, int(groups.max(initial=0)) + 1)
    sizes = np.bincount(np.unique(group_of * wide + value_of) // wide, minlength=wide)
    shown = np.bincount(np.unique(class_of * wide + value_of) // wide)
    within = np.unique(class_of * wide + group_of)
    wanted = np.bincount(within // wide, sizes[within % wide])
    return int((shown != wanted).sum())
