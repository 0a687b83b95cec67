"""Find the raw rows that a released row may come from: equal kept values, covered by its label."""

import numpy as np

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.legal.row_tree import bit


@kernel
def member(code, first, last, flat):
    """Return whether flat[first] … flat[last - 1], ascending, has a code, or is empty."""
    left, right = first, last
    while left < right:
        middle = (left + right) >> 1
        if flat[middle] < code:
            left = middle + 1
        else:
            right = middle
    return first == last or (left < last and flat[left] == code)


@kernel
def covers(codes, row, labels, own):
    """Return whether a class's label covers a row: each code within the ends and, if a set, in it.

    Takes whole arrays and positions, since a view of a row would cost more than the test.
    """
    low, high, start, end, flat = labels
    for at in range(codes.shape[1]):
        if codes[row, at] < low[own, at] or codes[row, at] > high[own, at]:
            return False
    for at in range(codes.shape[1]):
        if not member(codes[row, at], start[own, at], end[own, at], flat):
            return False
    return True


@kernel
def _set_of(labels, own, wanted):
    """Write the codes that a class's label has in each column as a set of ``bit``, uint64[d]."""
    for at in range(len(wanted)):
        first, last = labels[2][own, at], labels[3][own, at]
        wanted[at] = np.uint64(0) if first < last else ~np.uint64(0)
        for place in range(first, last):
            wanted[at] |= bit(labels[4][place])


@kernel
def _apart(low, high, held, node, labels, own, wanted):
    """Return whether a class's label covers no row of a node, as far as the node tells."""
    for at in range(len(wanted)):
        if labels[0][own, at] > high[node, at] or labels[1][own, at] < low[node, at]:
            return True
        if not held[node, at] & wanted[at]:
            return True
    return False


@kernel
def covered(codes, weights, first, last, trees, nodes, classes, labels, most, looks):
    """Return the rows that each slot's label covers, listed up to ``most`` of them in all.

    codes: int32[n, d], in the order of ``arrange``; weights: int64[n], how many rows each stands
    for. first, last: int64[m], each slot's range of rows; classes: int32[m], its class. trees:
    int64[m, 2], where in nodes the tree of the range begins, -1 where there is none, and how many
    nodes it has; nodes: low, high, held and ends as ``arrange`` writes them. labels: low, high,
    start, end int32[c, d] and flat int64[…]; low and high are the ends of a class's label,
    flat[start:end] the ascending codes of a set. looks: most comparisons with rows and nodes.

    Returns the list int32[…], slot by slot (empty where it would exceed ``most``), the weight that
    each slot covers int64[m], whether each row is covered bool[n], and the comparisons made; all
    others are unfinished if these are more than ``looks``.
    """
    found = np.empty(min(most, 2 * len(codes) + 16), dtype=np.int32)
    many = np.zeros(len(first), dtype=np.int64)
    known = np.zeros(len(codes), dtype=np.bool_)
    low, high, held, ends = nodes
    wanted = np.empty(codes.shape[1], dtype=np.uint64)
    total, looked = 0, 0
    for slot in range(len(first)):
        own, root = classes[slot], trees[slot, 0]
        if root >= 0:
            _set_of(labels, own, wanted)
        node = 0
        while node < trees[slot, 1] and looked <= looks:
            begin, end = first[slot], last[slot]
            looked += 1
            if root >= 0:
                at = root + node
                if _apart(low, high, held, at, labels, own, wanted):
                    node = ends[at, 2]
                    continue
                node += 1
                if node < ends[at, 2]:  # it has children
                    continue
                begin, end = begin + ends[at, 0], begin + ends[at, 1]
            else:
                node += 1
            looked += end - begin
            for row in range(begin, end):
                if not covers(codes, row, labels, own):
                    continue
                known[row] = True
                many[slot] += weights[row]
                if total == len(found) and total < most:
                    wider = np.empty(min(most, 2 * total), dtype=np.int32)
                    wider[:total] = found
                    found = wider
                if total < len(found):
                    found[total] = row
                total += 1
    return found[: total if total <= most else 0], many, known, looked
