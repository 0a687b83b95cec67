"""Match raw rows and persons with the labels that may be theirs.

Match rows, some of which stand for several equal ones, to groups that take several rows each, as
many rows as possible. Method: augmenting paths (Kuhn 1955), along which as many equal rows move as
can. A first pass assigns rows where there is room, those with a single choice first. Each row left
starts breadth-first searches for groups with room, along which rows move on. The groups that a
failed search visited can never be freed again, so that no later search enters them.
"""

from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np

from anon_sql.kernels.kernel import Runner, kernel


@kernel(borrows=True)
def _add(edge, many, groups, base, state):
    """Assign so many more rows along an edge."""
    _, used, size, flow, place, members = state
    group = groups[edge]
    if flow[edge] == 0:
        place[edge] = base[group] + size[group]
        members[place[edge]] = edge
        size[group] += 1
    flow[edge] += many
    used[group] += many


@kernel(borrows=True)
def _remove(edge, many, groups, base, state):
    """Assign so many rows fewer along an edge."""
    _, used, size, flow, place, members = state
    group = groups[edge]
    flow[edge] -= many
    used[group] -= many
    if flow[edge] == 0:
        size[group] -= 1
        last = members[base[group] + size[group]]
        members[place[edge]], place[last] = last, place[edge]


@kernel(borrows=True)
def _fill(ends, groups, capacity, base, state):
    """Assign rows where there is room, those with a single choice first; return how many."""
    left, used = state[0], state[1]
    count = 0
    for single in (True, False):
        for row in range(len(left)):
            if (ends[row + 1] - ends[row] == 1) != single:
                continue
            for edge in range(ends[row], ends[row + 1]):
                many = min(left[row], capacity[groups[edge]] - used[groups[edge]])
                if many > 0:
                    _add(edge, many, groups, base, state)
                    left[row] -= many
                    count += many
                if left[row] == 0:
                    break
    return count


@kernel(borrows=True)
def _search(start, search, ends, groups, row_of, capacity, base, state, trail, steps):
    """Return a group with room that is reachable from a row, or -1, and the steps left.

    trail: for each group the search that visited it last (-1: a dead end), the edge through which
    it was reached and the one that brought the edge's row (-1: it is the first), the queue of
    groups, and for each row the search that came to it last.
    """
    _, used, size, _, _, members = state
    seen, through, brought, queue, came = trail
    row, by = start, -1
    head, tail, member = 0, 0, 0
    came[start] = search
    while True:
        steps -= ends[row + 1] - ends[row] + 1
        if steps < 0:
            return -1, steps
        for edge in range(ends[row], ends[row + 1]):
            group = groups[edge]
            if seen[group] >= 0 and seen[group] != search:
                seen[group], through[group], brought[group] = search, edge, by
                if used[group] < capacity[group]:
                    return group, steps
                queue[tail] = group
                tail += 1
        while True:  # the next row that is in one of the groups
            while head < tail and member == size[queue[head]]:
                head, member = head + 1, 0
            if head == tail:
                for at in range(tail):
                    seen[queue[at]] = -1
                return -1, steps
            by = members[base[queue[head]] + member]
            row = row_of[by]
            member += 1
            if came[row] != search:
                came[row] = search
                break
            steps -= 1


@kernel(borrows=True)
def _move(group, start, groups, capacity, base, state, trail):
    """Move as many rows as can along the trail that ends in a group with room; return how many."""
    left, used, flow = state[0], state[1], state[3]
    through, brought = trail[1], trail[2]
    many, at = min(left[start], capacity[group] - used[group]), group
    while brought[at] >= 0:
        many = min(many, flow[brought[at]])
        at = groups[brought[at]]
    while True:
        _add(through[group], many, groups, base, state)
        by = brought[group]
        if by < 0:
            break
        _remove(by, many, groups, base, state)
        group = groups[by]
    left[start] -= many
    return many


@kernel
def _begun(ends, groups, weights, capacity):
    """Return a first matching, and the arrays with which it is made larger."""
    rows, many, edges = len(ends) - 1, len(capacity), len(groups)
    base = np.zeros(many + 1, dtype=np.int64)
    row_of = np.empty(edges, dtype=np.int32)
    for row in range(rows):
        for edge in range(ends[row], ends[row + 1]):
            row_of[edge] = row
            base[groups[edge] + 1] += 1
    for group in range(many):
        base[group + 1] += base[group]
    state = (
        weights.copy(),  # of each row that are left
        np.zeros(many, dtype=np.int64),  # rows in each group
        np.zeros(many, dtype=np.int32),  # and edges along which they came
        np.zeros(edges, dtype=np.int32),  # rows along each edge
        np.empty(edges, dtype=np.int32),  # where the edge is among the members
        np.empty(edges, dtype=np.int32),  # edges with rows, group by group
    )
    trail = (
        np.zeros(many, dtype=np.int64),
        np.empty(many, dtype=np.int32),
        np.empty(many, dtype=np.int32),
        np.empty(many, dtype=np.int32),
        np.zeros(rows, dtype=np.int64),
    )
    return _fill(ends, groups, capacity, base, state), row_of, base, state, trail


@kernel(borrows=True)
def _augment(ends, groups, capacity, row_of, base, state, trail, row, search, steps, block):
    """Search for rows from ``row`` on, until more than ``block`` of the steps are taken.

    Returns the next row, the number of the next search, how many rows were matched, and the steps
    left.
    """
    count, least, left = 0, steps - block, state[0]
    while row < len(ends) - 1 and steps >= least:
        if left[row] == 0 or ends[row] == ends[row + 1]:
            row += 1
            continue
        group, steps = _search(
            row, search, ends, groups, row_of, capacity, base, state, trail, steps
        )
        search += 1
        if steps < 0:
            break
        if group < 0:
            row += 1
        else:
            count += _move(group, row, groups, capacity, base, state, trail)
    return row, search, count, steps


BLOCK = 2_000_000  # steps, or comparisons, of one call of a kernel
STRETCHES = 16  # of groups, that threads look at


def matched(
    ends: Any, groups: Any, weights: Any, capacity: Any, steps: int, between: Callable[[], None]
) -> int:
    """Return the size of a maximum matching; -1 where that takes more than ``steps`` steps.

    ends: int64[n + 1], groups: int32[…]; row r may go to groups[ends[r]] … groups[ends[r + 1] - 1].
    weights: int64[n], how many rows each row stands for. capacity: int64[m], rows that each group
    takes. A step is a look at one group of a row. between: called before each BLOCK of steps.
    """
    between()
    count, *arrays = _begun(ends, groups, weights, capacity)
    row, search = 0, 1
    while row < len(ends) - 1:
        between()
        row, search, more, steps = _augment(
            ends, groups, capacity, *arrays, row, search, steps, BLOCK
        )
        if steps < 0:
            return -1
        count += more
    return count


LEAST = 16  # rows of a node; a node of up to twice as many is not divided
PAIRS = 32  # of rows of a node, that are compared


@kernel
def bit(code):
    """Return the member of a set of 64 for a code: different codes may have the same."""
    return np.uint64(1) << np.uint64(code & 63)


@kernel
def arrange(codes, rows, low, high, code_sets, ends):
    """Order rows in place as a tree, and return the number of its nodes.

    codes: int32[m, d], m > 0; rows: int32[m], ordered with them. A node has a stretch of rows, and
    its children the two parts of it. Nodes are written from parent to children and from left to
    right: low, high int32[…, d], their least and greatest code; code_sets uint64[…, d], their codes
    as a set of ``bit``; ends int64[…, 3], where their rows begin and end, and the next node that is
    not below them. There are at most m // 8 + 1 nodes.

    A node is divided in the column in which most pairs of its rows differ, times its width by that
    of all rows, near the middle and between different codes if there are LEAST rows on both sides.
    """
    stack = np.empty((len(rows) // LEAST + 2, 2), dtype=np.int64)
    stack[0, 0], stack[0, 1] = 0, len(rows)
    top, nodes = 1, 0
    while top:
        top -= 1
        node, first, last = nodes, stack[top, 0], stack[top, 1]
        nodes += 1
        ends[node, 0], ends[node, 1] = first, last
        _bound(codes, first, last, low[node], high[node], code_sets[node])
        if last - first <= 2 * LEAST:
            continue
        middle = (first + last) >> 1
        column, best = -1, 0.0
        for at in range(codes.shape[1]):
            width = high[node, at] - low[node, at]
            if width:
                differ = _differ(codes, first, middle, at) * width
                differ /= high[0, at] - low[0, at]
                if differ > best:
                    column, best = at, differ
        if column < 0:  # all rows are alike
            continue
        left, right = _divide(codes, rows, first, middle, last, column)
        if middle - left <= right - middle and left - first >= LEAST:
            middle = left
        elif last - right >= LEAST:
            middle = right
        elif left - first >= LEAST:
            middle = left
        stack[top, 0], stack[top, 1] = middle, last
        stack[top + 1, 0], stack[top + 1, 1] = first, middle
        top += 2
    for node in range(nodes - 1, -1, -1):
        after = node + 1
        while after < nodes and ends[after, 0] < ends[node, 1]:
            after = ends[after, 2]
        ends[node, 2] = after
    return nodes


@kernel
def _bound(codes, first, last, low, high, code_set):
    """Write the least and greatest codes of rows first … last - 1, and their codes as a set."""
    for at in range(len(low)):
        low[at] = high[at] = codes[first, at]
        code_set[at] = 0
    for row in range(first, last):
        for at in range(len(low)):
            code = codes[row, at]
            low[at] = min(low[at], code)
            high[at] = max(high[at], code)
            code_set[at] |= bit(code)


@kernel
def _differ(codes, first, middle, column):
    """Return how many of some rows before a position and some from there on differ in a column.

    The result is at least 1, since not all rows are alike.
    """
    step = max((middle - first) // PAIRS, 1)
    found = 1
    for row in range(first, middle, step):
        found += codes[row, column] != codes[middle + row - first, column]
    return found


@kernel
def _swap(codes, rows, one, other):
    """Exchange two rows."""
    rows[one], rows[other] = rows[other], rows[one]
    for at in range(codes.shape[1]):
        codes[one, at], codes[other, at] = codes[other, at], codes[one, at]


@kernel
def _divide(codes, rows, first, middle, last, column):
    """Order rows first … last - 1 so that those with the code at the middle are together.

    Codes before them are less, and codes after them are greater. Returns where they begin and end.
    """
    left, right = first, last - 1
    while left < right:
        pivot = codes[(left + right) >> 1, column]
        below, at, above = left, left, right
        while at <= above:
            code = codes[at, column]
            if code < pivot:
                _swap(codes, rows, at, below)
                below += 1
                at += 1
            elif code > pivot:
                _swap(codes, rows, at, above)
                above -= 1
            else:
                at += 1
        if middle < below:
            right = below - 1
        elif middle > above:
            left = above + 1
        else:
            return below, above + 1
    return middle, middle + 1


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
def _apart(low, high, code_sets, node, labels, own, wanted):
    """Return whether a class's label covers no row of a node, as far as the node tells."""
    for at in range(len(wanted)):
        if labels[0][own, at] > high[node, at] or labels[1][own, at] < low[node, at]:
            return True
        if not code_sets[node, at] & wanted[at]:
            return True
    return False


@kernel
def _covered(
    codes, weights, first, last, trees, nodes, classes, labels, most, looks, group, until, out
):
    """Look from one group on to another, or until BLOCK comparisons are made; see ``covered``.

    Returns the list, how many rows it would have, the comparisons made, and the next group.
    """
    found = np.empty(min(most, 2 * len(codes) + 16), dtype=np.int32)
    low, high, code_sets, ends = nodes
    numbers, many, known = out
    wanted = np.empty(codes.shape[1], dtype=np.uint64)
    total, looked = 0, 0
    while group < until and looked <= BLOCK:
        own, root = classes[group], trees[group, 0]
        if root >= 0:
            _set_of(labels, own, wanted)
        node = 0
        while node < trees[group, 1] and looked <= looks:
            begin, end = first[group], last[group]
            looked += 1
            if root >= 0:
                at = root + node
                if _apart(low, high, code_sets, at, labels, own, wanted):
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
                numbers[group] += 1
                many[group] += weights[row]
                if total == len(found) and total < most:
                    wider = np.empty(min(most, 2 * total), dtype=np.int32)
                    wider[:total] = found
                    found = wider
                if total < len(found):
                    found[total] = row
                total += 1
        group += 1
    return found[: min(total, len(found))], total, looked, group


def covered(
    codes: Any,
    weights: Any,
    first: Any,
    last: Any,
    trees: Any,
    nodes: Any,
    classes: Any,
    labels: Any,
    most: int,
    looks: int,
    runner: Runner,
) -> tuple[Any, Any, Any, Any, int]:
    """Return the rows that each group's label covers, listed up to ``most`` of them in all.

    codes: int32[n, d], in the order of ``arrange``; weights: int64[n], how many rows each stands
    for. first, last: int64[m], each group's range of rows; classes: int32[m], its class. trees:
    int64[m, 2], where in nodes the tree of the range begins, -1 where there is none, and how many
    nodes it has; nodes: low, high, code_sets and ends as ``arrange`` writes them. labels: low,
    high, start, end int32[c, d] and flat int64[…]; low and high are the ends of a class's label,
    flat[start:end] the ascending codes of a set. looks: most comparisons with rows and nodes.
    runner: its threads look at STRETCHES of the groups, for a BLOCK of comparisons at a time.

    Returns the list int32[…], group by group (empty where it would exceed ``most``), how many rows
    each group covers and their weight int64[m], whether each row is covered bool[n], and the
    comparisons made; all others are unfinished if these are more than ``looks``.
    """
    numbers, many = (np.zeros(len(first), dtype=np.int64) for _ in range(2))
    known = np.zeros(len(codes), dtype=np.bool_)
    ends = [len(first) * (at + 1) // STRETCHES for at in range(STRETCHES)]
    at, total, looked = [0, *ends[:-1]], 0, 0
    found: list[list[Any]] = [[] for _ in ends]
    while looked <= looks and (left := [s for s, end in enumerate(ends) if at[s] < end]):
        shared = (codes, weights, first, last, trees, nodes, classes, labels)
        allowed = (max(most - total, 0), looks - looked)
        jobs = [(*shared, *allowed, at[s], ends[s], (numbers, many, known)) for s in left]
        done = runner.map(_covered, jobs, [len(codes) + ends[s] - at[s] for s in left])
        for s, (rows, more, made, group) in zip(left, done, strict=True):
            total, looked, at[s] = total + more, looked + made, group
            found[s].append(rows.copy())
    rows = [np.empty(0, dtype=np.int32), *chain.from_iterable(found)]
    listed = np.concatenate(rows if total <= most else rows[:1])
    return listed, numbers, many, known, looked


@kernel
def number_groups(numbers, classes, weights, latest, values, owners, sizes, count):
    """Return the group of each row, int32[m], new ones numbered from ``count``, and the new count.

    numbers: int32[m], below v, of kept values; classes: int32[m], ascending over all calls;
    weights: int32[m], how many rows each stands for. latest: int32[v], the last group of each
    number, -1 where it has none. values, owners: int32[count + m or more], number and class of each
    group; sizes: int64[…], its rows. The last four are changed in place.
    """
    group_of = np.empty(len(numbers), dtype=np.int32)
    for row in range(len(numbers)):
        group = latest[numbers[row]]
        if group < 0 or owners[group] != classes[row]:
            group = count
            latest[numbers[row]] = group
            values[group], owners[group], sizes[group] = numbers[row], classes[row], 0
            count += 1
        sizes[group] += weights[row]
        group_of[row] = group
    return group_of, count
