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
    known = [at for at in range(len(marks)) if others[at] and 1 < distinct[at] <= rows / 2]
    sampled = {at: marks[at][chosen] for at in known}
    groups: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    found: list[int | None] = [None] * len(marks)
    for other in sorted(known, key=lambda at: (distinct[at], at)):
        _, first, inverse = np.unique(sampled[other], return_index=True, return_inverse=True)
        for at in known:
            if at == other or found[at] is not None or distinct[at] > distinct[other]:
                continue
            both = distinct[at] == distinct[other]
            if both and ((texts[at], at) < (texts[other], other) or found[other] == at):
                continue
            if not np.array_equal(sampled[at][first][inverse.reshape(-1)], sampled[at]):
                continue
            if other not in groups:
                _, whole, back = np.unique(marks[other], return_index=True, return_inverse=True)
                groups[other] = whole, back.reshape(-1)
            begins, of_row = groups[other]
            if np.array_equal(marks[at][begins][of_row], marks[at]):
                found[at] = other
    return found
