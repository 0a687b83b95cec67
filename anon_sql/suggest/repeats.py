"""Find columns that repeat another: who knows the one value of a row knows the other."""

from collections.abc import Sequence

import numpy as np

from anon_sql.suggest.combinations import Marks

_SAMPLE = 4_096  # rows of which some rule out nearly all pairs of columns
_PAIRS = 64  # most pairs of rows that are compared in all columns at once


def repeated(
    marks: Sequence[Marks], distinct: Sequence[int], texts: Sequence[bool], others: Sequence[bool]
) -> list[int | None]:
    """Return for each column the one that it repeats, by index; None for most.

    A column repeats another if each value of the other has one value of it. Of several, the one
    with the fewest values is returned; of two that repeat each other, text repeats what is no
    text, and else the later one the earlier. marks: uint64[n] of each column. distinct: how many
    values it has. texts: whether it is text. others: whether it counts: no identifier.
    """
    rows = len(marks[0]) if marks else 0
    chosen = np.unique(np.linspace(0, max(rows - 1, 0), _SAMPLE).astype(np.int64))
    candidates = [
        column
        for column in range(len(marks))
        if others[column] and 1 < distinct[column] <= rows / 2
    ]
    low = np.empty((len(chosen), len(candidates)), np.uint32)  # other numbers: other marks
    for i, column in enumerate(candidates):
        low[:, i] = marks[column][chosen].astype(np.uint32)
    copied_from: list[int | None] = [None] * len(marks)
    for other in sorted(candidates, key=lambda column: (distinct[column], column)):
        one, two = _alike(marks[other][chosen])
        groups: tuple[np.ndarray, np.ndarray] | None = None
        left = np.flatnonzero((low[one] == low[two]).all(axis=0))
        for column in (candidates[i] for i in left):
            if (
                column == other
                or copied_from[column] is not None
                or distinct[column] > distinct[other]
            ):
                continue
            both = distinct[column] == distinct[other]
            if both and (
                (texts[column], column) < (texts[other], other) or copied_from[other] == column
            ):
                continue
            if groups is None:
                _, whole, back = np.unique(marks[other], return_index=True, return_inverse=True)
                groups = whole, back.reshape(-1)
            begins, of_row = groups
            if np.array_equal(marks[column][begins][of_row], marks[column]):
                copied_from[column] = other
    return copied_from


def _alike(marks: Marks) -> tuple[np.ndarray, np.ndarray]:
    """Return some pairs of rows that have one value, as indices of one and the other."""
    order = np.argsort(marks, kind="stable")
    same = np.flatnonzero(marks[order][1:] == marks[order][:-1])
    some = same[:: len(same) // _PAIRS + 1]
    return order[some], order[some + 1]
