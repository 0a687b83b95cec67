"""Find the rows that labels cover, among rows that are arranged as trees."""

import numpy as np
import numpy.typing as npt

from anon_sql.core.labels.coverage import Ints, Places
from anon_sql.core.labels.read import Bools

Whole = npt.NDArray[np.int32]
ALL = np.iinfo(np.int64).max


def covered_rows(
    codes: Places,
    weights: Ints,
    first: Ints,
    last: Ints,
    classes: Whole,
    labels: tuple[Ints, ...],
    *,
    listed: int = 0,
    looks: int = ALL,
) -> tuple[Whole, Ints, Bools, int]:
    """Return the rows first … last - 1 that a label of a class covers, for m ranges and classes.

    codes: int32[n, d], of ``ranked`` columns, in another order afterwards; weights: int64[n].
    first, last: int64[m], ranges that are equal or follow each other; classes: int32[m]. labels: of
    ``labels_of``. listed: most rows that are listed; looks: most comparisons. Returns what the
    kernel ``covered`` does, of the rows in their order.
    """
    from anon_sql.kernels.legal.label_cover import covered
    from anon_sql.kernels.legal.row_tree import LEAST, arrange

    rows, size = np.arange(len(codes), dtype=np.int32), last - first
    new = np.diff(last, prepend=0) > 0
    heads = np.flatnonzero(new & (size > 2 * LEAST))
    starts = np.append(0, np.cumsum(size[heads] // 8 + 1))
    shape = (int(starts[-1]), codes.shape[1])
    nodes = (
        *(np.empty(shape, kind) for kind in (np.int32, np.int32, np.uint64)),
        np.empty((shape[0], 3), np.int64),
    )
    trees = np.column_stack([np.full(len(first), -1), np.ones(len(first), np.int64)])
    for head, start, end in zip(heads, starts[:-1], starts[1:], strict=True):
        own = slice(first[head], last[head])
        tree = (each[start:end] for each in nodes)
        trees[head] = start, arrange(codes[own], rows[own], *tree)
    of = np.maximum.accumulate(np.where(new, np.arange(len(new)), 0))  # ranges that are equal
    trees = np.where((size > 2 * LEAST)[:, None], trees[of], (-1, 1))
    found, many, known, looked = covered(
        codes, weights[rows], first, last, trees, nodes, classes, labels, listed, looks
    )
    whole = np.empty_like(known)
    whole[rows] = known
    return rows[found], many, whole, looked
