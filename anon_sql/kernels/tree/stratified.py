"""Split legal classes by cuts that preserve the distribution of sensitive values.

Rows are grouped into strata of like sensitive values, and each stratum is cut at its own median of
one column, so that both sides hold nearly the same values as their node. A plain cut is tried as
well; of all cuts whose sides are legal the one of least loss is made. Source: this project, after
LeFevre et al. 2006 (Mondrian) and the buckets of Cao et al. 2011 (SABRE).
"""

import numpy as np
from numba import njit

from anon_sql.kernels.loss.ncp import SET, range_loss, set_loss
from anon_sql.kernels.tree.sides import legal_cut

POOLS = (0, 16, 2)  # least rows of a stratum; 0: the node is one stratum, a plain cut


@njit(cache=True, nogil=True)
def split(points, model, rules, rank, strata, order, starts, k):
    """Split legal classes into legal ones of at least k rows; return where each begins in order.

    order: int32[m], starts: int64[…], the rows class by class; rows are moved within their class.
    rank: int32[n, d], the order of each column's values. strata: int32[n], equal for rows of equal
    sensitive values, near for near ones. Returns int64[classes + 1].
    """
    widest = 0
    for own in range(starts.size - 1):
        widest = max(widest, starts[own + 1] - starts[own])
    side, best = np.empty(widest, np.bool_), np.empty(widest, np.bool_)
    first, end = np.empty(widest // k + 2, np.int64), np.empty(widest // k + 2, np.int64)
    seen = np.full((points.shape[1], int(model.null.max()) + 2), -1, np.int64)
    begins = np.empty(order.size // k + 2, np.int64)
    count = stamp = 0
    for own in range(starts.size - 1):
        rows = order[starts[own] : starts[own + 1]]
        rows[:] = rows[np.argsort(strata[rows], kind="mergesort")]
        first[0], end[0], depth = starts[own], starts[own + 1], 1
        while depth > 0:
            depth -= 1
            a, b = first[depth], end[depth]
            node = order[a:b]
            sides = side[: b - a], best[: b - a]
            found = False
            if b - a >= 2 * k:
                found, stamp = best_cut(
                    points, model, rules, rank, strata, node, k, sides, seen, stamp
                )
            if not found:
                begins[count] = a
                count += 1
                continue
            chosen = sides[1]
            order[a:b] = np.append(node[chosen], node[~chosen])
            near = a + chosen.sum()
            first[depth], end[depth] = near, b
            first[depth + 1], end[depth + 1] = a, near
            depth += 2
    begins[count] = order.size
    return begins[: count + 1]


@njit(cache=True, nogil=True)
def best_cut(points, model, rules, rank, strata, rows, k, sides, seen, stamp):
    """Mark one side of the legal cut of least loss; return whether there is one, and ``stamp``.

    sides: two bool[m], scratch and the result. seen: int64[d, codes], the last stamp of each code.
    """
    side, best = sides
    least, found = np.inf, False
    for column in range(points.shape[1]):
        values = rank[rows, column]
        if values.min() == values.max():
            continue
        for pool in POOLS:
            near = mark(values, strata[rows], pool, side)
            if near < k or rows.size - near < k:
                continue
            left, right = rows[side], rows[~side]
            stamp += 1
            loss = left.size * ncp_of(points, model, left, seen, stamp)
            stamp += 1
            loss += right.size * ncp_of(points, model, right, seen, stamp)
            if loss < least - 1e-9 and legal_cut(rules, rows, side):
                least, found = loss, True
                best[:] = side
    return found, stamp


@njit(cache=True, nogil=True)
def mark(values, strata, pool, side):
    """Mark the lower half of each stratum of at least ``pool`` rows; return how many are marked.

    values, strata: int32[m], strata ascending. The extra row of odd strata goes to the sides in
    turn.
    """
    m, a, spare, near = values.size, 0, 0, 0
    while a < m:
        b = a + 1
        while b < m and (pool == 0 or strata[b] == strata[a] or b - a < pool):
            b += 1
        half = (b - a + spare) // 2
        spare = (b - a + spare) % 2
        ranked = np.argsort(values[a:b], kind="mergesort")
        for i in range(b - a):
            side[a + ranked[i]] = i < half
        near += half
        a = b
    return near


@njit(cache=True, nogil=True)
def ncp_of(points, model, rows, seen, stamp):
    """Return the NCP of rows, summed over the columns."""
    total = 0.0
    for column in range(points.shape[1]):
        low, high, nulls, distinct = np.inf, -np.inf, 0, 0
        for row in rows:
            value = points[row, column]
            if value == model.null[column]:
                nulls += 1
            elif model.kind[column] == SET:
                code = int(value)
                distinct += seen[column, code] != stamp
                seen[column, code] = stamp
            else:
                low, high = min(low, value), max(high, value)
        if nulls > 0:
            total += model.weight[column] if nulls < rows.size else 0.0
        elif model.kind[column] == SET:
            total += set_loss(model, column, distinct)
        else:
            total += range_loss(model, column, low, high)
    return total
