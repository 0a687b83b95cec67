"""Find the rows that labels cover, without comparing every row with every label."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql import kernels
from anon_sql.core import stopping
from anon_sql.core.labels.reading import Bools, Ints, Places
from anon_sql.core.running import Workers

Whole = npt.NDArray[np.int32]


class CoveredRows(NamedTuple):
    """The rows that m labels cover.

    rows: int32[…], label by label, as far as they were listed. counts: int64[m], how many were
    listed. weights: int64[m], the sum of the weights of all that each label covers. is_covered:
    bool[n], whether any label covers a row. comparisons: number of comparisons; if it exceeds the
    limit, the other fields are incomplete.
    """

    rows: Whole
    counts: Ints
    weights: Ints
    is_covered: Bools
    comparisons: int


ALL = np.iinfo(np.int64).max


def covered_rows(
    codes: Places,
    weights: Ints,
    first: Ints,
    last: Ints,
    classes: Whole,
    labels: tuple[Ints, ...],
    workers: Workers,
    *,
    listed: int = 0,
    looks: int = ALL,
) -> CoveredRows:
    """Return, for m ranges of rows, the rows from first to last - 1 that a class's labels cover.

    The result is that of the kernel ``covered``, with rows in their original order.

    codes: int32[n, d], of ``ranked`` columns, in another order afterwards.
    weights: int64[n].
    first, last: int64[m], ranges that are equal or follow each other.
    classes: int32[m].
    labels: of ``labels_of``.
    listed: maximum number of rows that are listed.
    looks: maximum number of comparisons.
    """
    rows, size = np.arange(len(codes), dtype=np.int32), last - first
    is_new = np.diff(last, prepend=0) > 0
    heads = np.flatnonzero(is_new & (size > 2 * kernels.label_cover.NODE_ROWS))
    starts = np.append(0, np.cumsum(size[heads] // 8 + 1))
    shape = (int(starts[-1]), codes.shape[1])
    nodes = (
        *(np.empty(shape, kind) for kind in (np.int32, np.int32, np.uint64)),
        np.empty((shape[0], 3), np.int64),
    )
    trees = np.column_stack([np.full(len(first), -1), np.ones(len(first), np.int64)])
    for head, start, end in zip(heads, starts[:-1], starts[1:], strict=True):
        stopping.check()
        stretch = slice(first[head], last[head])
        tree = (node_array[start:end] for node_array in nodes)
        trees[head] = start, kernels.label_cover.arrange(codes[stretch], rows[stretch], *tree)
    first_equal = np.maximum.accumulate(np.where(is_new, np.arange(len(is_new)), 0))
    trees = np.where(
        (size > 2 * kernels.label_cover.NODE_ROWS)[:, None], trees[first_equal], (-1, 1)
    )
    listed_positions, counts, covered_weights, is_covered, comparisons = (
        kernels.label_cover.covered(
            *(codes, weights[rows], first, last, trees, nodes, classes, labels, listed, looks),
            workers,
        )
    )
    covered = np.empty_like(is_covered)
    covered[rows] = is_covered
    return CoveredRows(rows[listed_positions], counts, covered_weights, covered, comparisons)
