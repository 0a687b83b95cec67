"""Split rows top-down: between two rows far apart, each row to the side of less loss.

Source: Xu et al. 2006, figure 2. A set of more than k rows is split, and so are its sides.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.distance import (
    NULL,
    coded,
    count_loss,
    draw,
    draw_below,
    full_loss,
    span_loss,
)
from anon_sql.kernels.kernel import Runner, kernel
from anon_sql.kernels.loss import SET, LossModel
from anon_sql.kernels.sides import Leaves

ROUNDS = 3  # searches for the farthest row
JOB_ROWS = 1 << 13  # in the subtree of one job, some .1 s

Node = tuple[int, int, int]  # first row, end, seed


class Sides(NamedTuple):
    """Content of two classes, by side and column.

    low, high, nulls, distinct: int64[2, d], without values if high is below 0.
    members: bool[2, d, codes], whether a code is in the class.
    inside, outside: int64[2, d], the loss of a SET column with a code that it has and with one that
        it does not have.
    """

    low: npt.NDArray[np.int64]
    high: npt.NDArray[np.int64]
    nulls: npt.NDArray[np.int64]
    distinct: npt.NDArray[np.int64]
    members: npt.NDArray[np.bool_]
    inside: npt.NDArray[np.int64]
    outside: npt.NDArray[np.int64]


@kernel(borrows=True)
def clear(sides, side):
    """Empty a class.

    sides: ``Sides``, changed.
    side: int, 0 or 1.
    """
    for c in range(sides.low.shape[1]):
        sides.low[side, c], sides.high[side, c] = NULL, -1
        sides.nulls[side, c] = sides.distinct[side, c] = 0
        sides.inside[side, c] = sides.outside[side, c] = 0
        for code in range(sides.members.shape[2]):
            sides.members[side, c, code] = False


@kernel(borrows=True)
def enter(sides, side, model, codes):
    """Add a row to a class.

    sides: ``Sides``, changed.
    side: int, 0 or 1.
    model: ``LossModel``, the meaning of the points.
    codes: int32[d], of the row.
    """
    for c in range(model.kind.size):
        value = codes[c]
        if model.kind[c] == SET:
            if not sides.members[side, c, value]:
                sides.members[side, c, value] = True
                sides.distinct[side, c] += 1
                count = sides.distinct[side, c]
                null = sides.members[side, c, np.int64(model.null[c])]
                sides.inside[side, c] = count_loss(model, c, count, null)
                sides.outside[side, c] = count_loss(model, c, count + 1, null)
        elif value == NULL:
            sides.nulls[side, c] += 1
        else:
            sides.low[side, c] = min(sides.low[side, c], np.int64(value))
            sides.high[side, c] = max(sides.high[side, c], np.int64(value))


@kernel(borrows=True)
def loss_with(sides, side, model, codes):
    """Return the loss of a non-empty class with a row added, in billionths over all columns.

    sides: ``Sides``.
    side: int, 0 or 1.
    model: ``LossModel``, the meaning of the points.
    codes: int32[d], of the row.
    """
    total = np.int64(0)
    for c in range(model.kind.size):
        value = np.int64(codes[c])
        if model.kind[c] == SET:
            if sides.members[side, c, value]:
                total += sides.inside[side, c]
            else:
                null = value == np.int64(model.null[c])
                total += full_loss(model, c) if null else sides.outside[side, c]
        elif value == NULL:
            total += full_loss(model, c) if sides.high[side, c] >= 0 else 0
        elif sides.nulls[side, c] > 0:
            total += full_loss(model, c)
        else:
            low, high = min(sides.low[side, c], value), max(sides.high[side, c], value)
            total += span_loss(model, c, low, high)
    return total


@kernel(borrows=True)
def farthest(codes, rows, sides, model, row):
    """Return the position in ``rows`` of the row of largest loss together with another.

    codes: int32[n, d], from ``coded``.
    rows: int32[m], rows of the node.
    sides: ``Sides``, scratch.
    model: ``LossModel``, the meaning of the points.
    row: int, the other row.
    """
    clear(sides, 0)
    enter(sides, 0, model, codes[row])
    farthest_position, largest_loss = 0, np.int64(-1)
    for i in range(rows.size):
        loss = loss_with(sides, 0, model, codes[rows[i]])
        if loss > largest_loss:
            farthest_position, largest_loss = i, loss
    return farthest_position


@kernel(borrows=True)
def split(codes, rows, sides, model, seed, order, near):
    """Bring the rows of one side to the front, both sides ascending; return their number.

    u and v are the seeds of the two sides, as in the paper. A row goes to the side whose |E| * NCP
    grows less; ties go to the smaller side, then to the first.

    codes: int32[n, d], from ``coded``.
    rows: int32[m] ascending, m >= 2, the node, put in another order.
    sides: ``Sides``, scratch.
    model: ``LossModel``, the meaning of the points.
    seed: uint64, of the node's stream of random numbers.
    order: int32[m], scratch.
    near: bool[m], scratch.
    """
    m = rows.size
    u = draw_below(seed, np.uint64(2), m)
    v = u
    for _ in range(ROUNDS):
        v = farthest(codes, rows, sides, model, rows[u])
        u, v = v, u
    if u == v:
        u, v = 0, 1
    for i in range(m):
        order[i] = i
    for side in range(2):
        clear(sides, side)
        enter(sides, side, model, codes[rows[u if side == 0 else v]])
    near[u], near[v] = True, False
    sizes, losses = (1, 1), (np.int64(0), np.int64(0))
    for remaining in range(m, 0, -1):  # in random order: draw one of the remaining
        i = draw_below(seed, np.uint64(2 + remaining), remaining)
        position = order[i]
        order[i] = order[remaining - 1]
        if position in (u, v):
            continue
        row = codes[rows[position]]
        first, second = loss_with(sides, 0, model, row), loss_with(sides, 1, model, row)
        first_increase = (sizes[0] + 1) * first - sizes[0] * losses[0]
        second_increase = (sizes[1] + 1) * second - sizes[1] * losses[1]
        near[position] = first_increase < second_increase or (
            first_increase == second_increase and sizes[0] <= sizes[1]
        )
        if near[position]:
            enter(sides, 0, model, row)
            sizes, losses = (sizes[0] + 1, sizes[1]), (first, losses[1])
        else:
            enter(sides, 1, model, row)
            sizes, losses = (sizes[0], sizes[1] + 1), (losses[0], second)
    near_count, far_count = 0, 0
    for i in range(m):
        row = rows[i]
        if near[i]:
            rows[near_count] = row
            near_count += 1
        else:
            order[far_count] = row
            far_count += 1
    for i in range(far_count):
        rows[near_count + i] = order[i]
    return near_count


@kernel
def grow(codes, rows, sides, model, seed, stop):
    """Split sets of more than ``stop`` rows and return where each set begins, int64[sets].

    codes: int32[n, d], from ``coded``.
    rows: int32[m] ascending, put in the order of the sets.
    sides: ``Sides``, scratch.
    model: ``LossModel``, the meaning of the points.
    seed: uint64, of the root.
    stop: int, rows of a set that is not split; m - 1 makes one split.
    """
    m = rows.size
    scratch, starts = np.empty(m, np.int32), np.empty(m + 1, np.int64)
    marks = np.empty(m, np.bool_)
    first, last, stream = (
        np.empty(m + 2, np.int64),
        np.empty(m + 2, np.int64),
        np.empty(m + 2, np.uint64),
    )
    first[0], last[0], stream[0] = 0, m, seed
    depth, count = 1, 0
    while depth:
        depth -= 1
        begin, end, node_seed = first[depth], last[depth], stream[depth]
        if end - begin <= stop:
            starts[count] = begin
            count += 1
            continue
        near = split(
            codes, rows[begin:end], sides, model, node_seed, scratch[begin:end], marks[begin:end]
        )
        first[depth], last[depth], stream[depth] = begin + near, end, draw(node_seed, np.uint64(1))
        first[depth + 1], last[depth + 1], stream[depth + 1] = (
            begin,
            begin + near,
            draw(node_seed, np.uint64(0)),
        )
        depth += 2
    return starts[:count]


def top_down(
    points: npt.NDArray[np.float64], model: LossModel, k: int, *, seed: int, workers: Runner
) -> Leaves:
    """Return a partition into sets of at most k rows, most of them smaller; see ``regrouping``.

    The result depends on the seed, not on the number of threads.

    points: float64[n, d], rows in canonical order; the lower position wins a tie.
    model: ``LossModel``, the meaning of the points.
    k: most rows of a set.
    seed: any int.
    workers: runs the subtrees.
    """
    n, width = points.shape
    codes = np.empty((n, width), np.int32)
    coded(np.ascontiguousarray(points, dtype=np.float64), model, codes)
    order = np.arange(n, dtype=np.int32)
    nodes: list[Node] = [(0, n, int(draw(np.uint64(seed % 2**64), np.uint64(0))))]
    while todo := [node for node in nodes if node[1] - node[0] > max(JOB_ROWS, k)]:
        jobs = [
            (codes, order[begin:end], empty(model), model, np.uint64(node_seed), end - begin - 1)
            for begin, end, node_seed in todo
        ]
        set_starts = workers.map(grow, jobs, [end - begin for begin, end, _ in todo])
        near = {node: int(starts[1]) for node, starts in zip(todo, set_starts, strict=True)}
        nodes = [side for node in nodes for side in halves(node, near.get(node, 0))]
    jobs = [
        (codes, order[begin:end], empty(model), model, np.uint64(node_seed), k)
        for begin, end, node_seed in nodes
    ]
    set_starts = workers.map(grow, jobs, [end - begin for begin, end, _ in nodes])
    starts = [
        node[0] + subset_starts for node, subset_starts in zip(nodes, set_starts, strict=True)
    ]
    return Leaves(order, np.concatenate([*starts, [n]]).astype(np.int64))


def halves(node: Node, near: int) -> list[Node]:
    """Return the two sides of a node, or the node itself.

    node: (first row, end, seed).
    near: rows of the first side; 0 for a node that is not split.
    """
    begin, end, node_seed = node
    if near == 0:
        return [node]
    seeds = [int(draw(np.uint64(node_seed), np.uint64(side))) for side in (0, 1)]
    return [(begin, begin + near, seeds[0]), (begin + near, end, seeds[1])]


def empty(model: LossModel) -> Sides:
    """Return two classes without rows.

    model: ``LossModel``, the meaning of the points.
    """
    width, codes = len(model.kind), int(model.null[model.kind == SET].max(initial=0)) + 1
    low, high, nulls, distinct, inside, outside = np.zeros((6, 2, width), np.int64)
    members = np.zeros((2, width, codes), np.bool_)
    return Sides(low, high, nulls, distinct, members, inside, outside)
