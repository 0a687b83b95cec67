"""Partition by strict Mondrian whose cuts follow hierarchies: a node gives way to its children.

Source: LeFevre, DeWitt and Ramakrishnan 2006, strict partitioning, as Kara and Eyüpoğlu 2023
(M-COF) cite it. Departures in ``methods.basic_mondrian``.
"""

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss.ncp import NUMBER, SET, TREE, LossModel, range_loss, set_loss
from anon_sql.kernels.runner import Runner
from anon_sql.kernels.tree.leaf_order import Leaves

LARGE = 1 << 15  # rows above which a set is one job, so that threads share and Ctrl-C ends it


@kernel
def _look(points, model, rows, column):
    """Return the lowest and highest value, the NULLs and the width of rows in a column."""
    low, high, nulls = np.inf, -np.inf, 0
    for row in rows:
        value = points[row, column]
        if value == model.null[column]:
            nulls += 1
        else:
            low, high = min(low, value), max(high, value)
    if low == high or nulls == len(rows):
        width = 0.0
    elif model.kind[column] == SET:
        width = set_loss(model, column, len(np.unique(points[rows, column])))
    else:
        width = range_loss(model, column, low, high)
    if 0 < nulls < len(rows):
        width = model.weight[column]
    return low, high, nulls, width


@kernel
def _child(model, column, leaf, node):
    """Return the child of ``node`` above a leaf of its subtree."""
    base, below = model.base[column], leaf
    while model.parent[base + below] != node:
        below = model.parent[base + below]
    return below


@kernel
def _parts(points, model, rows, column, low, high, nulls, k):
    """Return the part of each row in a cut of one column, int64[m], ascending by value.

    The numbers of the parts may have gaps. low, high, nulls: from ``_look``.
    """
    parts = np.zeros(len(rows), dtype=np.int64)
    values = points[rows, column]
    if nulls > 0:
        for at in range(len(rows)):
            parts[at] = values[at] == model.null[column]
    elif model.kind[column] == NUMBER:
        ordered = np.sort(values)
        middle = ordered[(len(ordered) - 1) // 2]
        above = len(values) - np.searchsorted(ordered, middle, side="right")
        for at in range(len(rows)):
            parts[at] = values[at] > middle if above >= k else values[at] >= middle
    elif model.kind[column] == TREE:
        base, node = model.base[column], np.int64(low)
        while model.last[base + node] < high:
            node = model.parent[base + node]
        for at in range(len(rows)):
            parts[at] = _child(model, column, np.int64(values[at]), node)
    else:
        for at in range(len(rows)):
            parts[at] = np.int64(values[at])
    return parts


@kernel
def cut(points, model, rows, k):
    """Return the rows in the parts of the widest cut whose parts all have at least k rows.

    rows: int32[m]. Returns int32[m], part by part, and int64[parts], where each part ends; one part
    where no cut is allowed. Columns of equal width are tried in their order; rows keep theirs
    within a part.
    """
    count = points.shape[1]
    low, high, widths = np.empty(count), np.empty(count), np.empty(count)
    nulls = np.empty(count, dtype=np.int64)
    for column in range(count):
        low[column], high[column], nulls[column], widths[column] = _look(
            points, model, rows, column
        )
    for column in np.argsort(-np.rint(widths * 1e9), kind="mergesort"):
        if widths[column] <= 0:
            break
        parts = _parts(points, model, rows, column, low[column], high[column], nulls[column], k)
        order = np.argsort(parts, kind="mergesort")
        ends = np.empty(len(rows), dtype=np.int64)
        found, begin, allowed = 0, 0, True
        for at in range(1, len(rows) + 1):
            if at == len(rows) or parts[order[at]] != parts[order[at - 1]]:
                allowed = allowed and at - begin >= k
                ends[found] = begin = at
                found += 1
        if allowed and found > 1:
            return rows[order], ends[:found].copy()
    return rows, np.array([len(rows)], dtype=np.int64)


@kernel
def cut_all(points, model, rows, k):
    """Return the rows in sets that no cut divides further, and where each set ends.

    rows: int32[m]. Returns int32[m], int64[sets].
    """
    order = rows.copy()
    ends = np.empty(len(rows), dtype=np.int64)
    found = 0
    stack = [(np.int64(0), np.int64(len(rows)))]
    while len(stack) > 0:
        begin, end = stack.pop()
        cut_rows, parts = cut(points, model, order[begin:end].copy(), k)
        if len(parts) == 1:
            ends[found] = end
            found += 1
            continue
        order[begin:end] = cut_rows
        for at in range(len(parts) - 1, -1, -1):
            first = parts[at - 1] if at > 0 else 0
            stack.append((begin + first, begin + parts[at]))
    return order, ends[:found].copy()


def basic_mondrian(
    points: npt.NDArray[np.float64], model: LossModel, k: int, workers: Runner
) -> Leaves:
    """Return a partition into sets of at least k rows that no cut divides further.

    points: float64[n, d], rows in canonical order.
    """
    large, small = [np.arange(len(points), dtype=np.int32)], []
    while large:
        rows = large.pop()
        if len(rows) <= LARGE:
            small.append(rows)
            continue
        ((cut_rows, ends),) = workers.map(cut, [(points, model, rows, k)], [0])
        parts = np.split(cut_rows, ends[:-1])
        (small if len(parts) == 1 else large).extend(parts[::-1])
    made = workers.map(
        cut_all, [(points, model, rows, k) for rows in small], [len(rows) for rows in small]
    )
    begins = np.cumsum([0, *(len(rows) for rows in small)])
    starts = [begin + ends for begin, (_, ends) in zip(begins, made, strict=False)]
    return Leaves(
        np.concatenate([rows for rows, _ in made]),
        np.concatenate([np.zeros(1, dtype=np.int64), *starts]),
    )
