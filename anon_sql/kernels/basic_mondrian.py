"""Partition by strict Mondrian whose cuts follow hierarchies: a node gives way to its children.

Source: LeFevre, DeWitt and Ramakrishnan 2006, strict partitioning, as Kara and Eyüpoğlu 2023
(M-COF), section 2.1, cite it. Departures in ``methods.mondrian``.
"""

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.kernel import Runner, kernel
from anon_sql.kernels.loss import NUMBER, SET, TREE, LossModel, range_loss, set_loss
from anon_sql.kernels.sides import Leaves

JOB_ROWS = 1 << 15  # a larger set is cut in a job, so that threads share and Ctrl-C ends it


@kernel
def _column_range(points, model, rows, column):
    """Return the lowest and highest value, the number of NULLs and the width of rows in a column.

    points: float64[n, d], the points of the rows in each column.
    model: ``LossModel``, the meaning of the points.
    rows: int32[m], rows of the set.
    column: int, the column, 0 … d - 1.
    """
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
    """Return the child of a node above a leaf of its subtree.

    model: ``LossModel``, the meaning of the points.
    column: int, the column, 0 … d - 1.
    leaf: int64, the leaf.
    node: int64, the node, counted from the column's base.
    """
    base, child = model.base[column], leaf
    while model.parent[base + child] != node:
        child = model.parent[base + child]
    return child


@kernel
def _parts(points, model, rows, column, low, high, nulls, k):
    """Return the part of each row in a cut of one column, int64[m], ascending by value.

    The numbers of the parts may have gaps.

    points: float64[n, d], the points of the rows in each column.
    model: ``LossModel``, the meaning of the points.
    rows: int32[m], rows of the set.
    column: int, the column, 0 … d - 1.
    low, high: float64, lowest and highest value, from ``_column_range``.
    nulls: int64, number of NULLs.
    k: int, least rows of a class.
    """
    parts = np.zeros(len(rows), dtype=np.int64)
    values = points[rows, column]
    if nulls > 0:
        for i in range(len(rows)):
            parts[i] = values[i] == model.null[column]
    elif model.kind[column] == NUMBER:
        ordered = np.sort(values)
        middle = ordered[(len(ordered) - 1) // 2]
        above = len(values) - np.searchsorted(ordered, middle, side="right")
        for i in range(len(rows)):
            parts[i] = values[i] > middle if above >= k else values[i] >= middle
    elif model.kind[column] == TREE:
        base, node = model.base[column], np.int64(low)
        while model.last[base + node] < high:
            node = model.parent[base + node]
        for i in range(len(rows)):
            parts[i] = _child(model, column, np.int64(values[i]), node)
    else:
        for i in range(len(rows)):
            parts[i] = np.int64(values[i])
    return parts


@kernel
def cut(points, model, rows, k):
    """Return the rows in the parts of the widest cut whose parts all have at least k rows.

    Columns of equal width are tried in their order; rows keep theirs within a part. Returns
    int32[m], part by part, and int64[parts], where each part ends; one part if no cut is allowed.

    points: float64[n, d], the points of the rows in each column.
    model: ``LossModel``, the meaning of the points.
    rows: int32[m], rows of the set.
    k: int, least rows of a class.
    """
    count = points.shape[1]
    low, high, widths = np.empty(count), np.empty(count), np.empty(count)
    nulls = np.empty(count, dtype=np.int64)
    for column in range(count):
        low[column], high[column], nulls[column], widths[column] = _column_range(
            points, model, rows, column
        )
    for column in np.argsort(-np.rint(widths * 1e9), kind="mergesort"):
        if widths[column] <= 0:
            break
        parts = _parts(points, model, rows, column, low[column], high[column], nulls[column], k)
        order = np.argsort(parts, kind="mergesort")
        ends = np.empty(len(rows), dtype=np.int64)
        part_count, begin, allowed = 0, 0, True
        for i in range(1, len(rows) + 1):
            if i == len(rows) or parts[order[i]] != parts[order[i - 1]]:
                allowed = allowed and i - begin >= k
                ends[part_count] = begin = i
                part_count += 1
        if allowed and part_count > 1:
            return rows[order], ends[:part_count].copy()
    return rows, np.array([len(rows)], dtype=np.int64)


@kernel
def cut_all(points, model, rows, k):
    """Return the rows in sets that no cut divides further, and where each set ends.

    Returns int32[m] and int64[sets].

    points: float64[n, d], the points of the rows in each column.
    model: ``LossModel``, the meaning of the points.
    rows: int32[m], the rows.
    k: int, least rows of a class.
    """
    order = rows.copy()
    ends = np.empty(len(rows), dtype=np.int64)
    set_count = 0
    stack = [(np.int64(0), np.int64(len(rows)))]
    while len(stack) > 0:
        begin, end = stack.pop()
        cut_rows, parts = cut(points, model, order[begin:end].copy(), k)
        if len(parts) == 1:
            ends[set_count] = end
            set_count += 1
            continue
        order[begin:end] = cut_rows
        for part in range(len(parts) - 1, -1, -1):
            first = parts[part - 1] if part > 0 else 0
            stack.append((begin + first, begin + parts[part]))
    return order, ends[:set_count].copy()


def basic_mondrian(
    points: npt.NDArray[np.float64], model: LossModel, k: int, workers: Runner
) -> Leaves:
    """Return a partition into sets of at least k rows that no cut divides further.

    points: float64[n, d], rows in canonical order.
    model: ``LossModel``, the meaning of the points.
    k: least rows of a set.
    workers: runs the sets.
    """
    large, small = [np.arange(len(points), dtype=np.int32)], []
    while large:
        rows = large.pop()
        if len(rows) <= JOB_ROWS:
            small.append(rows)
            continue
        ((cut_rows, ends),) = workers.map(cut, [(points, model, rows, k)], [0])
        parts = np.split(cut_rows, ends[:-1])
        (small if len(parts) == 1 else large).extend(parts[::-1])
    cut_sets = workers.map(
        cut_all, [(points, model, rows, k) for rows in small], [len(rows) for rows in small]
    )
    begins = np.cumsum([0, *(len(rows) for rows in small)])
    starts = [begin + ends for begin, (_, ends) in zip(begins, cut_sets, strict=False)]
    return Leaves(
        np.concatenate([rows for rows, _ in cut_sets]),
        np.concatenate([np.zeros(1, dtype=np.int64), *starts]),
    )
