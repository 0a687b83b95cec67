"""Put classes into steps of size: single sizes, or steps that grow like a logarithm."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

SINGLE = 20  # sizes between the least and the largest up to which each is a step


def size_steps(sizes: Sequence[Mapping[str, int]]) -> list[tuple[str, int]]:
    """Return a label and the number of classes for each step from the least to the largest size.

    sizes: ``rows`` of a class and ``classes`` of that size, ascending.
    """
    if not sizes:
        return []
    least, most = sizes[0]["rows"], sizes[-1]["rows"]
    starts = list(range(least, most + 2))
    if most - least >= SINGLE:
        starts = [1]
        while starts[-1] <= most:
            starts.append(_after(starts[-1]))
        starts = [start for start in starts if _after(start) > least]
    found = []
    for first, after in pairwise(starts):
        classes = sum(each["classes"] for each in sizes if first <= each["rows"] < after)
        label = f"{first:,}" if after == first + 1 else f"{first:,} to {after - 1:,}"
        found.append((label, classes))
    return found


def _after(start: int) -> int:
    """Return the start of the next logarithmic step: 1, 2, 3, 5, 10, 20, 50, 100, …"""
    if start < 5:
        return {1: 2, 2: 3, 3: 5}[start]
    return start * 5 // 2 if str(start).startswith("2") else start * 2
