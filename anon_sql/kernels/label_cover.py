"""Look up the rows that labels cover, in trees of rows.

A node of a tree has a stretch of rows, and says which codes they have. A label that none of these
can meet covers no row of the node. Source: this project.
"""

from itertools import chain
from typing import Any

import numpy as np

from anon_sql.kernels.kernel import Runner, kernel

STRETCHES = 16  # of groups, that threads look at
CALL_COMPARISONS = 2_000_000  # of one call of a kernel
NODE_ROWS = 16  # of a node; a node of up to twice as many is not divided
NODE_PAIRS = 32  # of rows of a node that are compared


@kernel
def bit(code):
    """Return the member of a set of 64 for a code, uint64; different codes may have the same.

    code: int.
    """
    return np.uint64(1) << np.uint64(code & 63)


@kernel
def arrange(codes, rows, low, high, code_sets, ends):
    """Order rows in place as a tree, and return the number of its nodes, at most m // 8 + 1.

    A node has a stretch of rows, and its children the two parts of it. Nodes are written from
    parent to children and from left to right. A node is divided in the column in which most pairs
    of its rows differ, times its width by that of all rows, near the middle and between different
    codes if there are NODE_ROWS rows on both sides.

    codes: int32[m, d], m > 0, put in the order of the tree.
    rows: int32[m], row numbers, put in the same order.
    low, high: int32[nodes, d], written: the least and greatest code of a node.
    code_sets: uint64[nodes, d], written: its codes as a set of ``bit``.
    ends: int64[nodes, 3], written: where its rows begin and end, and the next node that is not
        below it.
    """
    stack = np.empty((len(rows) // NODE_ROWS + 2, 2), dtype=np.int64)
    stack[0, 0], stack[0, 1] = 0, len(rows)
    depth, nodes = 1, 0
    while depth:
        depth -= 1
        node, first, last = nodes, stack[depth, 0], stack[depth, 1]
        nodes += 1
        ends[node, 0], ends[node, 1] = first, last
        _bound(codes, first, last, low[node], high[node], code_sets[node])
        if last - first <= 2 * NODE_ROWS:
            continue
        middle = (first + last) >> 1
        column, most_differing = -1, 0.0
        for c in range(codes.shape[1]):
            width = high[node, c] - low[node, c]
            if width:
                differing = _differ(codes, first, middle, c) * width
                differing /= high[0, c] - low[0, c]
                if differing > most_differing:
                    column, most_differing = c, differing
        if column < 0:  # all rows are alike
            continue
        begin, stop = _divide(codes, rows, first, middle, last, column)
        if middle - begin <= stop - middle and begin - first >= NODE_ROWS:
            middle = begin
        elif last - stop >= NODE_ROWS:
            middle = stop
        elif begin - first >= NODE_ROWS:
            middle = begin
        stack[depth, 0], stack[depth, 1] = middle, last
        stack[depth + 1, 0], stack[depth + 1, 1] = first, middle
        depth += 2
    for node in range(nodes - 1, -1, -1):
        following = node + 1
        while following < nodes and ends[following, 0] < ends[node, 1]:
            following = ends[following, 2]
        ends[node, 2] = following
    return nodes


@kernel
def _bound(codes, first, last, low, high, code_set):
    """Write the least and greatest codes of rows first … last - 1, and their codes as a set.

    codes: int32[m, d].
    first, last: int, the positions.
    low, high: int32[d], written.
    code_set: uint64[d], written.
    """
    for c in range(len(low)):
        low[c] = high[c] = codes[first, c]
        code_set[c] = 0
    for row in range(first, last):
        for c in range(len(low)):
            code = codes[row, c]
            low[c] = min(low[c], code)
            high[c] = max(high[c], code)
            code_set[c] |= bit(code)


@kernel
def _differ(codes, first, middle, column):
    """Return how many of some rows before a position and some from there on differ in a column.

    The result is at least 1, since not all rows are equal.

    codes: int32[m, d].
    first, middle: int, positions; as many rows from ``middle`` on are compared.
    column: int, the column, 0 … d - 1.
    """
    step = max((middle - first) // NODE_PAIRS, 1)
    differing = 1
    for row in range(first, middle, step):
        differing += codes[row, column] != codes[middle + row - first, column]
    return differing


@kernel
def _swap(codes, rows, one, other):
    """Exchange two rows.

    codes: int32[m, d], changed.
    rows: int32[m], changed.
    one, other: int, the positions.
    """
    rows[one], rows[other] = rows[other], rows[one]
    for c in range(codes.shape[1]):
        codes[one, c], codes[other, c] = codes[other, c], codes[one, c]


@kernel
def _divide(codes, rows, first, middle, last, column):
    """Order rows first … last - 1 so that those with the code at the middle are together.

    Codes before them are less, and codes after them are greater. Returns where they begin and end.

    codes: int32[m, d], changed.
    rows: int32[m], changed.
    first, middle, last: int, the positions.
    column: int, the column, 0 … d - 1.
    """
    left, right = first, last - 1
    while left < right:
        pivot = codes[(left + right) >> 1, column]
        below, position, above = left, left, right
        while position <= above:
            code = codes[position, column]
            if code < pivot:
                _swap(codes, rows, position, below)
                below += 1
                position += 1
            elif code > pivot:
                _swap(codes, rows, position, above)
                above -= 1
            else:
                position += 1
        if middle < below:
            right = below - 1
        elif middle > above:
            left = above + 1
        else:
            return below, above + 1
    return middle, middle + 1


@kernel
def member(code, first, last, flat):
    """Return whether a set has a code; an empty set stands for all codes.

    code: int.
    first, last: int, the set is flat[first] … flat[last - 1], ascending.
    flat: int64[…].
    """
    left, right = first, last
    while left < right:
        middle = (left + right) >> 1
        if flat[middle] < code:
            left = middle + 1
        else:
            right = middle
    return first == last or (left < last and flat[left] == code)


@kernel
def covers(codes, row, labels, class_id):
    """Return whether a class's label covers a row: each code within the ends and, if a set, in it.

    Takes whole arrays and positions, since a view of a row would cost more than the test.

    codes: int32[n, d], in the order of ``arrange``.
    row: int, the row.
    labels: (low, high, start, end, flat), as in ``covered``.
    class_id: int, the class.
    """
    low, high, start, end, flat = labels
    for c in range(codes.shape[1]):
        if codes[row, c] < low[class_id, c] or codes[row, c] > high[class_id, c]:
            return False
    for c in range(codes.shape[1]):
        if not member(codes[row, c], start[class_id, c], end[class_id, c], flat):
            return False
    return True


@kernel
def _set_of(labels, class_id, label_codes):
    """Write the codes that a class's label has in each column as a set of ``bit``.

    labels: (low, high, start, end, flat), as in ``covered``.
    class_id: int, the class.
    label_codes: uint64[d], written; all members for a label that is not a set.
    """
    for c in range(len(label_codes)):
        first, last = labels[2][class_id, c], labels[3][class_id, c]
        label_codes[c] = np.uint64(0) if first < last else ~np.uint64(0)
        for i in range(first, last):
            label_codes[c] |= bit(labels[4][i])


@kernel
def _apart(low, high, code_sets, node, labels, class_id, label_codes):
    """Return whether a class's label covers no row of a node, judged by the node's codes.

    low, high: int32[nodes, d], from ``arrange``.
    code_sets: uint64[nodes, d], from ``arrange``.
    node: int, the node.
    labels: (low, high, start, end, flat), as in ``covered``.
    class_id: int, the class.
    label_codes: uint64[d], from ``_set_of``.
    """
    for c in range(len(label_codes)):
        if labels[0][class_id, c] > high[node, c] or labels[1][class_id, c] < low[node, c]:
            return True
        if not code_sets[node, c] & label_codes[c]:
            return True
    return False


@kernel
def _covered(
    codes, weights, first, last, trees, nodes, classes, labels, max_rows, allowed, group, until, out
):
    """Look from one group on to another, or until CALL_COMPARISONS comparisons are made.

    Returns the list int32[…], how many rows it would have, the comparisons made, and the next
    group.

    codes, weights, first, last, trees, nodes, classes, labels: as in ``covered``.
    max_rows: int, rows that are listed at most.
    allowed: int, comparisons at most.
    group, until: int, the first group and the one behind the last.
    out: (covered_counts int64[m], covered_weights int64[m], is_covered bool[n]), written.
    """
    covered_rows = np.empty(min(max_rows, 2 * len(codes) + 16), dtype=np.int32)
    low, high, code_sets, ends = nodes
    covered_counts, covered_weights, is_covered = out
    label_codes = np.empty(codes.shape[1], dtype=np.uint64)
    row_count, comparisons = 0, 0
    while group < until and comparisons <= CALL_COMPARISONS:
        class_id, root = classes[group], trees[group, 0]
        if root >= 0:
            _set_of(labels, class_id, label_codes)
        node = 0
        while node < trees[group, 1] and comparisons <= allowed:
            begin, end = first[group], last[group]
            comparisons += 1
            if root >= 0:
                tree_node = root + node
                if _apart(low, high, code_sets, tree_node, labels, class_id, label_codes):
                    node = ends[tree_node, 2]
                    continue
                node += 1
                if node < ends[tree_node, 2]:  # it has children
                    continue
                begin, end = begin + ends[tree_node, 0], begin + ends[tree_node, 1]
            else:
                node += 1
            comparisons += end - begin
            for row in range(begin, end):
                if not covers(codes, row, labels, class_id):
                    continue
                is_covered[row] = True
                covered_counts[group] += 1
                covered_weights[group] += weights[row]
                if row_count == len(covered_rows) and row_count < max_rows:
                    wider = np.empty(min(max_rows, 2 * row_count), dtype=np.int32)
                    wider[:row_count] = covered_rows
                    covered_rows = wider
                if row_count < len(covered_rows):
                    covered_rows[row_count] = row
                row_count += 1
        group += 1
    return covered_rows[: min(row_count, len(covered_rows))], row_count, comparisons, group


def covered(
    codes: Any,
    weights: Any,
    first: Any,
    last: Any,
    trees: Any,
    nodes: Any,
    classes: Any,
    labels: Any,
    max_rows: int,
    allowed: int,
    runner: Runner,
) -> tuple[Any, Any, Any, Any, int]:
    """Return the rows that each group's label covers, listed up to a number of them in all.

    Returns the list int32[…], group by group (empty if it would exceed ``max_rows``), how many rows
    each group covers and their weight int64[m], whether each row is covered bool[n], and the
    comparisons made; all others are unfinished if these are more than ``allowed``.

    codes: int32[n, d], in the order of ``arrange``.
    weights: int64[n], how many rows each stands for.
    first, last: int64[m], each group's range of rows.
    trees: int64[m, 2], where in ``nodes`` the tree of the range begins, -1 for none, and how many
        nodes it has.
    nodes: (low, high, code_sets, ends), as ``arrange`` writes them.
    classes: int32[m], each group's class.
    labels: (low, high, start, end int32[c, d], flat int64[…]); low and high are the ends of a
        class's label, flat[start:end] the ascending codes of a set.
    max_rows: rows that are listed at most.
    allowed: comparisons with rows and nodes at most.
    runner: its threads look at STRETCHES of the groups, for CALL_COMPARISONS at a time.
    """
    covered_counts, covered_weights = (np.zeros(len(first), dtype=np.int64) for _ in range(2))
    is_covered = np.zeros(len(codes), dtype=np.bool_)
    ends = [len(first) * (stretch + 1) // STRETCHES for stretch in range(STRETCHES)]
    next_group, row_count, comparisons = [0, *ends[:-1]], 0, 0
    lists: list[list[Any]] = [[] for _ in ends]
    while comparisons <= allowed and (
        waiting := [stretch for stretch, end in enumerate(ends) if next_group[stretch] < end]
    ):
        shared = (codes, weights, first, last, trees, nodes, classes, labels)
        limits = (max(max_rows - row_count, 0), allowed - comparisons)
        jobs = [
            (
                *shared,
                *limits,
                next_group[stretch],
                ends[stretch],
                (covered_counts, covered_weights, is_covered),
            )
            for stretch in waiting
        ]
        done = runner.map(
            _covered,
            jobs,
            [len(codes) + ends[stretch] - next_group[stretch] for stretch in waiting],
        )
        for stretch, (rows, listed_count, compared, group) in zip(waiting, done, strict=True):
            row_count, comparisons, next_group[stretch] = (
                row_count + listed_count,
                comparisons + compared,
                group,
            )
            lists[stretch].append(rows.copy())
    rows = [np.empty(0, dtype=np.int32), *chain.from_iterable(lists)]
    listed = np.concatenate(rows if row_count <= max_rows else rows[:1])
    return listed, covered_counts, covered_weights, is_covered, comparisons
