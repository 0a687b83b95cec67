"""Partition by Mondrian: cut the column of largest span at its median while both sides keep k rows.

Source: LeFevre, DeWitt and Ramakrishnan 2006. The paper leaves the order of categories open: they
are ordered by frequency in the rows given, ties by code. On Adult this loses 12 to 19 % less than
order by code, and 2 to 7 % less than order of first appearance, which depends on the order of rows.
Hierarchies are ordered by leaf. Departures:

- A strict cut is the boundary between two values nearest the middle, which is not always the one
  above the median. Whether that boundary is legal decides whether the column is cut.
- A relaxed cut orders rows that are equal in its column by the next widest columns, then by
  position; the paper leaves this open.
- Where a column holds NULL beside values, the first cut tried separates them.
"""

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.legal.bags import Rules
from anon_sql.kernels.loss.coded import NULL, WHOLE, coded
from anon_sql.kernels.loss.ncp import SET, LossModel
from anon_sql.kernels.runner import Runner
from anon_sql.kernels.tree.leaf_order import Leaves
from anon_sql.kernels.tree.mondrian_cut import mark_side

PARTITIONINGS = ("strict", "relaxed")
COLUMNS = ("any", "widest")
RELAXED, WIDEST = 1, 1
JOB = 1 << 17  # rows in the subtree of one job, some .05 s

Node = tuple[int, int]


@kernel
def tally(values, counts):
    """Add the count of each code of ``values``, int32[n], to ``counts``, int64[…]."""
    for at in range(values.size):
        counts[values[at]] += 1


@kernel
def renumber(values, rank):
    """Replace each code of ``values``, int32[n], by rank[code]."""
    for at in range(values.size):
        values[at] = rank[values[at]]


def order_sets(rows: npt.NDArray[np.int32], model: LossModel) -> None:
    """Renumber the codes of SET columns by descending frequency, in place; ties keep their order.

    rows: int32[n, d]. NULL keeps its code.
    """
    for column in np.flatnonzero(model.kind == SET):
        null = int(model.null[column])
        counts = np.zeros(null + 1, np.int64)
        tally(rows[:, column], counts)
        rank = np.arange(null + 1, dtype=np.int32)
        rank[np.argsort(-counts[:null], kind="stable")] = np.arange(null, dtype=np.int32)
        renumber(rows[:, column], rank)


@kernel
def move(pairs, side, spare):
    """Bring the rows marked in ``side`` to the front, order preserved; return their number.

    pairs: int64[m, w]; side: bool[m]; spare: scratch like pairs.
    """
    near = far = 0
    for at in range(side.size):  # no branch on the data: always write both, advance one
        for c in range(pairs.shape[1]):
            moved = pairs[at, c]
            pairs[near, c] = moved
            spare[far, c] = moved
        near += side[at]
        far += not side[at]
    for at in range(far):
        for c in range(pairs.shape[1]):
            pairs[near + at, c] = spare[at, c]
    return near


@kernel
def grow(rows, pairs, model, k, rules, rule, stop):
    """Cut sets of more than ``stop`` rows and return where each set begins, int64[…].

    rows: int32[m, w], w even, codes and what is carried with each row. pairs: the same memory as
    int64[m, w / 2], through which rows are moved. ``stop`` equal to the number of rows less one
    makes a single cut.
    """
    m, width = rows.shape[0], model.kind.size
    null, slots = np.full(width, NULL, np.int64), 1
    for c in range(width):
        if model.kind[c] == SET:
            null[c] = np.int64(model.null[c])
            slots = max(slots, null[c] + 1)
    seen = np.zeros((width, slots), np.int32)
    side, spare = np.empty(m, np.bool_), np.empty_like(pairs)
    scratch = side, np.empty(m, np.int32), np.empty(m, np.int32)
    starts = np.empty(m // k + 2, np.int64)
    first, end = np.empty_like(starts), np.empty_like(starts)
    bounds = np.empty((starts.size, width), np.int64)
    first[0], end[0] = 0, m
    for c in range(width):
        bounds[0, c] = WHOLE
    depth, count, mark = 1, 0, 0
    while depth:
        depth -= 1
        a, b = first[depth], end[depth]
        mark += 1
        node, bound = rows[a:b], bounds[depth]
        if (
            b - a <= stop
            or b - a < 2 * k
            or not mark_side(node, model, k, rules, rule, null, bound, seen, mark, scratch)
        ):
            starts[count] = a
            count += 1
            continue
        near = move(pairs[a:b], side[: b - a], spare)
        first[depth], end[depth] = a + near, b
        first[depth + 1], end[depth + 1] = a, a + near
        for c in range(width):
            bounds[depth + 1, c] = bound[c]
        depth += 2
    return starts[:count]


def mondrian_partition(
    points: npt.NDArray[np.float64],
    model: LossModel,
    k: int,
    rules: Rules | None = None,
    *,
    partitioning: str = "strict",
    columns: str = "any",
    workers: Runner,
) -> Leaves:
    """Return a partition into leaves of at least k rows that satisfy ``rules``.

    The leaves satisfy the rules if the whole table does. points: float64[n, d], rows in canonical
    order; the lower position wins a tie. partitioning: 'strict' keeps equal values together,
    'relaxed' cuts at the middle rank (leaves of k to 2k - 1 rows). columns: 'widest' makes a node a
    leaf if its widest column has no cut, 'any' tries the next. The result does not depend on the
    number of threads.
    """
    n, width = points.shape
    rule = (partitioning == PARTITIONINGS[RELAXED], columns == COLUMNS[WIDEST])
    rows = np.zeros((n, width + 2 - width % 2), np.int32)
    coded(np.ascontiguousarray(points, dtype=np.float64), model, rows)
    order_sets(rows, model)
    rows[:, width] = np.arange(n, dtype=np.int32)
    pairs = rows.view(np.int64)
    nodes: list[Node] = [(0, n)]
    whole: set[Node] = set()  # nodes of more than JOB rows that no cut divides
    while todo := [node for node in nodes if node[1] - node[0] > JOB and node not in whole]:
        once = {node: node[1] - node[0] - 1 for node in todo}
        made = workers.map(
            grow,
            [(rows[a:b], pairs[a:b], model, k, rules, rule, once[a, b]) for a, b in todo],
            list(once.values()),
        )
        sides = {node: node[0] + starts for node, starts in zip(todo, made, strict=True)}
        whole.update(node for node in todo if len(sides[node]) == 1)
        nodes = [side for node in nodes for side in ranges(sides.get(node), node)]
    below = [node for node in nodes if node not in whole]
    made = workers.map(
        grow,
        [(rows[a:b], pairs[a:b], model, k, rules, rule, 2 * k - 1) for a, b in below],
        [b - a for a, b in below],
    )
    found = dict(zip(below, made, strict=True))
    first = [node[0] + found.get(node, np.zeros(1, np.int64)) for node in nodes]
    order = np.ascontiguousarray(rows[:, width])
    return Leaves(order, np.concatenate([*first, [n]]).astype(np.int64))


def ranges(starts: npt.NDArray[np.int64] | None, node: Node) -> list[Node]:
    """Return the parts of a node that begin at ``starts``; the node itself where that is None."""
    if starts is None:
        return [node]
    ends = [int(at) for at in starts] + [node[1]]
    return list(pairwise(ends))
