"""Cut clusters where the cut loses least, until no cut is allowed: the second phase of DOP.

Source: Sharma, Kumar and Reddy, "A Density-Driven Anonymization Framework", section IV-B ("optimal
Mondrian"). No cut is refused for losing more than the node does. Cuts separate few rows at a time,
so that a node may lie n / k deep: waiting nodes are on a stack, and rows stay sorted by every
column, which makes the cost of a node proportional to its rows. The paper leaves the encoding of
text open; values are ordered by frequency, as in ``mondrian``. On Adult (k = 10, 'ncp') order by
code loses 18 % more.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.legal.bags import Rules
from anon_sql.kernels.loss.coded import coded
from anon_sql.kernels.loss.ncp import NUMBER, SET, LossModel
from anon_sql.kernels.runner import Runner
from anon_sql.kernels.tree.leaf_order import Leaves
from anon_sql.kernels.tree.mondrian import order_sets
from anon_sql.kernels.tree.optimal_cut import best_cut
from anon_sql.kernels.tree.sides import Held, held_room

LOSSES = ("lil", "ncp")
STEPS = 2_000_000  # rows between two tests for Ctrl-C, some .2 s


class Cutting(NamedTuple):
    """State of a partition of n rows while it is cut.

    codes: int32[n, d]. orders: int32[d, n], rows node by node, ascending in each column. first,
    end: int64[n + 1], the waiting nodes, depth[0] of them. starts: int64[n + 1], where the finished
    nodes begin, made[0] of them. left: int64[1], rows in waiting nodes. The other fields are the
    scratch space of ``optimal_cut``.
    """

    codes: npt.NDArray[np.int32]
    orders: npt.NDArray[np.int32]
    first: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    depth: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    made: npt.NDArray[np.int64]
    left: npt.NDArray[np.int64]
    wanted: npt.NDArray[np.int64]
    seen: npt.NDArray[np.int32]
    mark: npt.NDArray[np.int32]
    before: npt.NDArray[np.int64]
    after: npt.NDArray[np.int64]
    side: npt.NDArray[np.bool_]
    held: Held


@kernel
def part(orders, a, b, side, spare):
    """Bring the rows of orders[:, a:b] marked in ``side`` to the front, order preserved."""
    for column in range(orders.shape[0]):
        near = far = 0
        for at in range(a, b):
            row = orders[column, at]
            orders[column, a + near] = row
            spare[far] = row
            near += side[row]
            far += not side[row]
        orders[column, a + near : b] = spare[:far]


@kernel
def cut_on(s, model, k, weighted, rules, steps):
    """Cut waiting nodes until ``steps`` rows were visited; return how many rows still wait."""
    scratch = s.wanted, s.seen, s.mark, s.before, s.after, s.held
    spare = np.empty(s.side.size, np.int32)
    while s.depth[0] > 0 and steps > 0:
        s.depth[0] -= 1
        a, b = s.first[s.depth[0]], s.end[s.depth[0]]
        steps -= b - a
        column, place = -1, np.int64(0)
        if b - a >= 2 * k:
            column, place = best_cut(s.codes, model, s.orders, a, b, k, weighted, rules, scratch)
        if column < 0:
            s.starts[s.made[0]] = a
            s.made[0] += 1
            s.left[0] -= b - a
            continue
        for at in range(a, b):
            s.side[s.orders[column, at]] = at < a + place
        part(s.orders, a, b, s.side, spare)
        for low, high in ((a + place, b), (a, a + place)):
            s.first[s.depth[0]], s.end[s.depth[0]] = low, high
            s.depth[0] += 1
    return s.left[0]


def optimal_mondrian(
    points: npt.NDArray[np.float64],
    model: LossModel,
    clusters: Leaves,
    k: int,
    rules: Rules | None = None,
    *,
    loss: str,
    workers: Runner,
) -> Leaves:
    """Return each cluster cut as finely as both sides of every cut may be classes.

    points: float64[n, d], rows in canonical order. k: least number of rows of a side; rules: what
    else each side must satisfy. loss: 'lil', the paper's, sums the ranges of the numeric columns;
    'ncp' counts every column, weighted by rows. Time grows with the square of the rows where cuts
    separate few rows at a time.
    """
    n, width = points.shape
    codes = np.zeros((n, width), np.int32)
    coded(np.ascontiguousarray(points, dtype=np.float64), model, codes)
    order_sets(codes, model)
    cluster = clusters.classes()
    orders = np.stack([np.lexsort((codes[:, c], cluster)) for c in range(width)])
    weighted = loss == LOSSES[1]
    wanted = np.flatnonzero((model.kind == NUMBER) | weighted)
    sets = [int(model.null[c]) + 1 for c in np.flatnonzero(model.kind == SET)]
    ends = clusters.starts
    waiting, zero = len(ends) - 1, np.zeros(1, np.int64)
    first, end = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    first[:waiting], end[:waiting] = ends[:-1][::-1], ends[1:][::-1]
    state = Cutting(
        codes=codes,
        orders=orders.astype(np.int32),
        first=first,
        end=end,
        depth=zero + waiting,
        starts=np.empty(n + 1, np.int64),
        made=zero.copy(),
        left=zero + n,
        wanted=wanted,
        seen=np.zeros((width, max(sets, default=0)), np.int32),
        mark=np.zeros(1, np.int32),
        before=np.empty(n, np.int64),
        after=np.empty(n, np.int64),
        side=np.empty(n, np.bool_),
        held=held_room(rules, n),
    )
    job = (state, model, k, weighted, rules, STEPS)
    workers.repeat(cut_on, job, n)
    made = int(state.made[0])
    return Leaves(state.orders[0], np.append(state.starts[:made], n).astype(np.int64))
