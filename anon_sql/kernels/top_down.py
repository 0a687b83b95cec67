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
JOB = 1 << 13  # rows in the subtree of one job, some .1 s

Node = tuple[int, int, int]  # first row, end, seed


class Sides(NamedTuple):
    """Content of two classes, by side and column.

    low, high, nulls, distinct: int64[2, d], without values where high is below 0. members: bool[2,
    d, codes]. inside, outside: int64[2, d], the loss of a SET column with a code that it holds and
    with one that it does not.
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
    """Empty a class."""
    for c in range(sides.low.shape[1]):
        sides.low[side, c], sides.high[side, c] = NULL, -1
        sides.nulls[side, c] = sides.distinct[side, c] = 0
        sides.inside[side, c] = sides.outside[side, c] = 0
        for code in range(sides.members.shape[2]):
            sides.members[side, c, code] = False


@kernel(borrows=True)
def enter(sides, side, model, codes):
    """Add a row, int32[d], to a class."""
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
    """Return the loss of a non-empty class with a row added, in billionths over all columns."""
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
    """Return the position in ``rows`` of the row of largest loss together with another."""
    clear(sides, 0)
    enter(sides, 0, model, codes[row])
    best, most = 0, np.int64(-1)
    for at in range(rows.size):
        loss = loss_with(sides, 0, model, codes[rows[at]])
        if loss > most:
            best, most = at, loss
    return best


@kernel(borrows=True)
def split(codes, rows, sides, model, seed, order, near):
    """Bring the rows of one side to the front, both sides ascending; return their number.

    rows: int32[m] ascending, m >= 2; order: int32[m], near: bool[m], scratch. A row goes to the
    side whose |E| * NCP grows less; ties go to the smaller side, then to the first.
    """
    m = rows.size
    u = draw_below(seed, np.uint64(2), m)
    v = u
    for _ in range(ROUNDS):
        v = farthest(codes, rows, sides, model, rows[u])
        u, v = v, u
    if u == v:
        u, v = 0, 1
    for at in range(m):
        order[at] = at
    for side in range(2):
        clear(sides, side)
        enter(sides, side, model, codes[rows[u if side == 0 else v]])
    near[u], near[v] = True, False
    sizes, losses = (1, 1), (np.int64(0), np.int64(0))
    for left in range(m, 0, -1):  # in random order: draw one of those left
        at = draw_below(seed, np.uint64(2 + left), left)
        place = order[at]
        order[at] = order[left - 1]
        if place in (u, v):
            continue
        row = codes[rows[place]]
        first, second = loss_with(sides, 0, model, row), loss_with(sides, 1, model, row)
        grown = (sizes[0] + 1) * first - sizes[0] * losses[0]
        other = (sizes[1] + 1) * second - sizes[1] * losses[1]
        near[place] = grown < other or (grown == other and sizes[0] <= sizes[1])
        if near[place]:
            enter(sides, 0, model, row)
            sizes, losses = (sizes[0] + 1, sizes[1]), (first, losses[1])
        else:
            enter(sides, 1, model, row)
            sizes, losses = (sizes[0], sizes[1] + 1), (losses[0], second)
    count, rest = 0, 0
    for at in range(m):
        row = rows[at]
        if near[at]:
            rows[count] = row
            count += 1
        else:
            order[rest] = row
            rest += 1
    for at in range(rest):
        rows[count + at] = order[at]
    return count


@kernel
def grow(codes, rows, sides, model, seed, stop):
    """Split sets of more than ``stop`` rows and return where each set begins, int64[…].

    Reorders rows, int32[m] ascending. ``stop`` equal to the number of rows less one makes one
    split.
    """
    m = rows.size
    scratch, starts = np.empty(m, np.int32), np.empty(m + 1, np.int64)
    marks = np.empty(m, np.bool_)
    low, high, stream = (
        np.empty(m + 2, np.int64),
        np.empty(m + 2, np.int64),
        np.empty(m + 2, np.uint64),
    )
    low[0], high[0], stream[0] = 0, m, seed
    depth, count = 1, 0
    while depth:
        depth -= 1
        a, b, own = low[depth], high[depth], stream[depth]
        if b - a <= stop:
            starts[count] = a
            count += 1
            continue
        near = split(codes, rows[a:b], sides, model, own, scratch[a:b], marks[a:b])
        low[depth], high[depth], stream[depth] = a + near, b, draw(own, np.uint64(1))
        low[depth + 1], high[depth + 1], stream[depth + 1] = a, a + near, draw(own, np.uint64(0))
        depth += 2
    return starts[:count]


def top_down(
    points: npt.NDArray[np.float64], model: LossModel, k: int, *, seed: int, workers: Runner
) -> Leaves:
    """Return a partition into sets of at most k rows, most of them smaller; see ``regrouping``.

    points: float64[n, d], rows in canonical order; the lower position wins a tie. The result
    depends on the seed, not on the number of threads.
    """
    n, width = points.shape
    codes = np.empty((n, width), np.int32)
    coded(np.ascontiguousarray(points, dtype=np.float64), model, codes)
    order = np.arange(n, dtype=np.int32)
    nodes: list[Node] = [(0, n, int(draw(np.uint64(seed % 2**64), np.uint64(0))))]
    while todo := [node for node in nodes if node[1] - node[0] > max(JOB, k)]:
        jobs = [
            (codes, order[a:b], empty(model), model, np.uint64(own), b - a - 1)
            for a, b, own in todo
        ]
        made = workers.map(grow, jobs, [b - a for a, b, _ in todo])
        near = {node: int(starts[1]) for node, starts in zip(todo, made, strict=True)}
        nodes = [side for node in nodes for side in halves(node, near.get(node, 0))]
    jobs = [(codes, order[a:b], empty(model), model, np.uint64(own), k) for a, b, own in nodes]
    made = workers.map(grow, jobs, [b - a for a, b, _ in nodes])
    starts = [node[0] + each for node, each in zip(nodes, made, strict=True)]
    return Leaves(order, np.concatenate([*starts, [n]]).astype(np.int64))


def halves(node: Node, near: int) -> list[Node]:
    """Return the two sides of a split node; the node itself where ``near`` is 0."""
    a, b, own = node
    if near == 0:
        return [node]
    seeds = [int(draw(np.uint64(own), np.uint64(side))) for side in (0, 1)]
    return [(a, a + near, seeds[0]), (a + near, b, seeds[1])]


def empty(model: LossModel) -> Sides:
    """Return two classes without rows."""
    width, most = len(model.kind), int(model.null[model.kind == SET].max(initial=0)) + 1
    low, high, nulls, distinct, inside, outside = np.zeros((6, 2, width), np.int64)
    members = np.zeros((2, width, most), np.bool_)
    return Sides(low, high, nulls, distinct, members, inside, outside)
