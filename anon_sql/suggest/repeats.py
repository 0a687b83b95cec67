"""Find columns that repeat another: who knows the one value of a row knows the other."""

from collections.abc import Sequence

import numpy as np

from anon_sql.suggest.combinations import Marks

_SAMPLE = 4_096  # rows that rule out nearly all pairs


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
    sampled = {column: marks[column][chosen] for column in candidates}
    groups: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    copied_from: list[int | None] = [None] * len(marks)
    for other in sorted(candidates, key=lambda column: (distinct[column], column)):
        _, first, inverse = np.unique(sampled[other], return_index=True, return_inverse=True)
        for column in candidates:
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
            if not np.array_equal(sampled[column][first][inverse.reshape(-1)], sampled[column]):
                continue
            if other not in groups:
                _, whole, back = np.unique(marks[other], return_index=True, return_inverse=True)
                groups[other] = whole, back.reshape(-1)
            begins, of_row = groups[other]
            if np.array_equal(marks[column][begins][of_row], marks[column]):
                copied_from[column] = other
    return copied_from
