"""Divide people into bins with similar numbers of rows; classes are cut within bins.

For each person of a class, a release keeps as many rows as the member with the fewest rows has.
With one child table, a dynamic program cuts the sorted counts into groups of k … 2k - 1 people with
the least surplus. Bins join such groups as long as they add little surplus.
"""

import heapq

import numpy as np
import numpy.typing as npt

from anon_sql import kernels

Ints = npt.NDArray[np.int64]
SMALL_BIN_CLASSES = 20  # a bin of fewer than this times k people is joined, if that costs little
MAX_ADDED_SHARES = 0.2, 0.003  # of the least surplus and of all rows, which joining may add


def bins_of(counts: Ints, k: int, hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
    """Return the bin of each of n persons, int32[n], each of at least k persons.

    counts: int64[n, t], the rows of each person in t child tables; n >= k. hashes: uint64[n], of
    the persons, which decide where persons of equal counts may be in several bins.
    """
    rows, tables = counts.shape
    if tables == 0 or not counts.any():
        return np.zeros(rows, np.int32)
    order = np.lexsort((hashes, *counts.T[::-1], counts.sum(axis=1)))
    ordered = counts[order]
    if tables == 1:
        starts, least = kernels.slot_matching.least_surplus(ordered[:, 0].copy(), k)
        group = np.unique(starts, return_inverse=True)[1].reshape(-1)
    else:
        group = _by_splitting(ordered, k)
        least = _surplus_of_groups(ordered, group)
    joined = _joined(
        ordered, group, k, int(MAX_ADDED_SHARES[0] * least + MAX_ADDED_SHARES[1] * counts.sum())
    )
    bins = np.empty(rows, np.int32)
    bins[order] = joined
    return bins


def least_surplus(counts: Ints, k: int) -> int:
    """Return the fewest rows that any classes of at least k persons leave out of one table."""
    if len(counts) < k:
        return 0
    return int(kernels.slot_matching.least_surplus(np.sort(counts).astype(np.int64), k)[1])


def _surplus(counts: Ints) -> int:
    return int((counts - counts.min(axis=0)).sum())


def _surplus_of_groups(counts: Ints, group: Ints) -> int:
    """Return the surplus of all groups together; group: int64[n]."""
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(group[order]) != 0])
    low = np.minimum.reduceat(counts[order], starts, axis=0)
    sizes = np.diff(np.r_[starts, len(group)])
    return int(counts.sum() - (low * sizes[:, None]).sum())


def _by_splitting(counts: Ints, k: int) -> Ints:
    """Return groups of at least k people by cutting where that saves the most surplus.

    If k or more people have the same counts, they are a group of their own.
    """
    _, vector, many = np.unique(counts, axis=0, return_inverse=True, return_counts=True)
    vector = vector.reshape(-1)
    group = np.where(many[vector] >= k, vector, -1)
    rare = np.flatnonzero(group < 0)
    following = int(vector.max()) + 1
    if 0 < len(rare) < k:
        totals = counts.sum(axis=1)
        common = np.flatnonzero(group >= 0)
        if len(common) == 0:
            return np.zeros(len(counts), np.int64)
        for i in rare:  # they join a vector that is near
            group[i] = group[common[np.abs(totals[common] - totals[i]).argmin()]]
        return group
    waiting = [rare] if len(rare) else []
    while waiting:
        persons = waiting.pop()
        cut = _best_cut(counts[persons], k)
        if cut is None:
            group[persons] = following
            following += 1
        else:
            waiting += [persons[~cut], persons[cut]]
    return group


def _best_cut(counts: Ints, k: int) -> npt.NDArray[np.bool_] | None:
    """Return the upper side of the cut that leaves the least surplus; None for no cut."""
    rows, best, upper_side = len(counts), _surplus(counts), None
    if rows < 2 * k or best == 0:
        return None
    for table in range(counts.shape[1]):
        order = np.argsort(counts[:, table], kind="stable")
        ordered = counts[order]
        total = np.r_[np.zeros((1, counts.shape[1]), np.int64), ordered.cumsum(axis=0)]
        low = np.minimum.accumulate(ordered, axis=0)
        high = np.minimum.accumulate(ordered[::-1], axis=0)[::-1]
        cut_position = np.arange(k, rows - k + 1)
        left = (total[cut_position] - cut_position[:, None] * low[cut_position - 1]).sum(axis=1)
        right = (
            total[rows] - total[cut_position] - (rows - cut_position)[:, None] * high[cut_position]
        ).sum(axis=1)
        cost = left + right
        least = int(cost.argmin())
        if cost[least] < best:
            best = int(cost[least])
            upper_side = np.zeros(rows, np.bool_)
            upper_side[order[cut_position[least] :]] = True
    return upper_side


def _joined(counts: Ints, group: Ints, k: int, allowed: int) -> Ints:
    """Return groups joined with neighbours: those of equal counts, and small ones at little cost.

    counts: in an order in which near counts are neighbours. allowed: surplus that may be added.
    """
    ids, first, group = np.unique(group, return_index=True, return_inverse=True)
    rank = np.empty(len(ids), np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(ids))
    group = rank[group.reshape(-1)]
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(group[order]) != 0])
    sizes = np.diff(np.r_[starts, len(group)]).tolist()
    low = np.minimum.reduceat(counts[order], starts, axis=0).tolist()
    after = [*range(1, len(sizes)), -1]
    before = [-1, *range(len(sizes) - 1)]
    stamp, alive = [0] * len(sizes), [True] * len(sizes)
    becomes = np.arange(len(sizes))

    def price(i: int, j: int) -> int:
        pairs = zip(low[i], low[j], strict=True)
        return sum(sizes[i] * max(0, a - b) + sizes[j] * max(0, b - a) for a, b in pairs)

    heap: list[tuple[int, int, int, int, int]] = []

    def offer(i: int) -> None:
        j = after[i]
        if j < 0:
            return
        cost = price(i, j)
        equal = cost == 0 and low[i] == low[j]
        if equal or min(sizes[i], sizes[j]) < SMALL_BIN_CLASSES * k:
            heapq.heappush(heap, (cost, i, j, stamp[i], stamp[j]))

    for i in range(len(sizes)):
        offer(i)
    while heap:
        cost, i, j, stamp_i, stamp_j = heapq.heappop(heap)
        if not (alive[i] and alive[j]) or (stamp[i], stamp[j]) != (stamp_i, stamp_j):
            continue
        if cost > allowed:
            break
        allowed -= cost
        low[i] = list(map(min, low[i], low[j]))
        sizes[i] += sizes[j]
        alive[j], becomes[j] = False, i
        after[i] = after[j]
        if after[i] >= 0:
            before[after[i]] = i
        stamp[i] += 1
        offer(i)
        if before[i] >= 0:
            offer(before[i])
    for i in range(len(becomes)):
        while becomes[i] != becomes[becomes[i]]:
            becomes[i] = becomes[becomes[i]]
    return np.unique(becomes[group], return_inverse=True)[1].reshape(-1)
