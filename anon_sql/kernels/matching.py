"""Match rows, some of which stand for several equal ones, to groups that take several rows each.

As many rows as possible are matched. Method: augmenting paths (Kuhn 1955), along which as many
equal rows move as can. A first pass assigns rows where there is room, those with a single choice
first. Each row that is left starts breadth-first searches for groups with room, along which rows
move on. The groups that a failed search visited can never be freed again, so that no later search
enters them.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.kernel import kernel


class Flow(NamedTuple):
    """A matching of n rows with m groups over e edges, each from a row to a group it may go to.

    waiting: int64[n], rows of each row that are not matched.
    used: int64[m], rows in each group.
    size: int32[m], edges along which they came.
    along: int32[e], rows along each edge.
    place: int32[e], where the edge is in ``members``.
    members: int32[e], edges with rows, those of a group from base[group] on.
    """

    waiting: npt.NDArray[np.int64]
    used: npt.NDArray[np.int64]
    size: npt.NDArray[np.int32]
    along: npt.NDArray[np.int32]
    place: npt.NDArray[np.int32]
    members: npt.NDArray[np.int32]


class Trail(NamedTuple):
    """How breadth-first searches came to m groups and n rows.

    seen: int64[m], the search that visited a group last; -1 for a dead end.
    through: int32[m], the edge through which the group was reached.
    origin: int32[m], the edge that brought that edge's row; -1 for the first row.
    queue: int32[m], the groups in the order in which they were reached.
    visited: int64[n], the search that came to a row last.
    """

    seen: npt.NDArray[np.int64]
    through: npt.NDArray[np.int32]
    origin: npt.NDArray[np.int32]
    queue: npt.NDArray[np.int32]
    visited: npt.NDArray[np.int64]


@kernel(borrows=True)
def _add(edge, count, groups, base, flow):
    """Assign more rows along an edge.

    edge: int, the edge.
    count: int, how many rows.
    groups: int32[e], the group of each edge; row r may go to groups[ends[r]] … groups[ends[r + 1] -
        1].
    base: int64[m + 1], where the edges of each group begin in ``flow.members``.
    flow: ``Flow``, changed.
    """
    _, used, size, along, place, members = flow
    group = groups[edge]
    if along[edge] == 0:
        place[edge] = base[group] + size[group]
        members[place[edge]] = edge
        size[group] += 1
    along[edge] += count
    used[group] += count


@kernel(borrows=True)
def _remove(edge, count, groups, base, flow):
    """Assign fewer rows along an edge.

    edge: int, the edge.
    count: int, how many rows.
    groups: int32[e], the group of each edge; row r may go to groups[ends[r]] … groups[ends[r + 1] -
        1].
    base: int64[m + 1], where the edges of each group begin in ``flow.members``.
    flow: ``Flow``, changed.
    """
    _, used, size, along, place, members = flow
    group = groups[edge]
    along[edge] -= count
    used[group] -= count
    if along[edge] == 0:
        size[group] -= 1
        last = members[base[group] + size[group]]
        members[place[edge]], place[last] = last, place[edge]


@kernel(borrows=True)
def _fill(ends, groups, capacity, base, flow):
    """Assign rows where there is room, those with a single choice first; return how many.

    ends: int64[n + 1], where the edges of each row begin.
    groups: int32[e], the group of each edge; row r may go to groups[ends[r]] … groups[ends[r + 1] -
        1].
    capacity: int64[m], rows that each group takes.
    base: int64[m + 1], where the edges of each group begin in ``flow.members``.
    flow: ``Flow``, changed.
    """
    waiting, used = flow.waiting, flow.used
    count = 0
    for single in (True, False):
        for row in range(len(waiting)):
            if (ends[row + 1] - ends[row] == 1) != single:
                continue
            for edge in range(ends[row], ends[row + 1]):
                moved = min(waiting[row], capacity[groups[edge]] - used[groups[edge]])
                if moved > 0:
                    _add(edge, moved, groups, base, flow)
                    waiting[row] -= moved
                    count += moved
                if waiting[row] == 0:
                    break
    return count


@kernel(borrows=True)
def _search(start, search, ends, groups, row_of, capacity, base, flow, trail, steps):
    """Return a group with room that is reachable from a row, or -1, and the steps left.

    start: int, the row.
    search: int, number of this search, from 1.
    ends: int64[n + 1], where the edges of each row begin.
    groups: int32[e], the group of each edge; row r may go to groups[ends[r]] … groups[ends[r + 1] -
        1].
    row_of: int32[e], the row of each edge.
    capacity: int64[m], rows that each group takes.
    base: int64[m + 1], where the edges of each group begin in ``flow.members``.
    flow: ``Flow``.
    trail: ``Trail``, changed.
    steps: int, steps that are allowed; a step is a look at one group of a row.
    """
    used, size, members = flow.used, flow.size, flow.members
    seen, through, origin, queue, visited = trail
    row, edge_back = start, -1
    head, tail, member = 0, 0, 0
    visited[start] = search
    while True:
        steps -= ends[row + 1] - ends[row] + 1
        if steps < 0:
            return -1, steps
        for edge in range(ends[row], ends[row + 1]):
            group = groups[edge]
            if seen[group] >= 0 and seen[group] != search:
                seen[group], through[group], origin[group] = search, edge, edge_back
                if used[group] < capacity[group]:
                    return group, steps
                queue[tail] = group
                tail += 1
        while True:  # the next row that is in one of the groups
            while head < tail and member == size[queue[head]]:
                head, member = head + 1, 0
            if head == tail:
                for i in range(tail):
                    seen[queue[i]] = -1
                return -1, steps
            edge_back = members[base[queue[head]] + member]
            row = row_of[edge_back]
            member += 1
            if visited[row] != search:
                visited[row] = search
                break
            steps -= 1


@kernel(borrows=True)
def _move(group, start, groups, capacity, base, flow, trail):
    """Move as many rows as can along the trail that ends in a group with room; return how many.

    group: int, the group with room.
    start: int, the row with which the trail begins.
    groups: int32[e], the group of each edge; row r may go to groups[ends[r]] … groups[ends[r + 1] -
        1].
    capacity: int64[m], rows that each group takes.
    base: int64[m + 1], where the edges of each group begin in ``flow.members``.
    flow: ``Flow``, changed.
    trail: ``Trail``, as ``_search`` has left it.
    """
    waiting, used, along = flow.waiting, flow.used, flow.along
    through, origin = trail.through, trail.origin
    count, reached = min(waiting[start], capacity[group] - used[group]), group
    while origin[reached] >= 0:
        count = min(count, along[origin[reached]])
        reached = groups[origin[reached]]
    while True:
        _add(through[group], count, groups, base, flow)
        edge_back = origin[group]
        if edge_back < 0:
            break
        _remove(edge_back, count, groups, base, flow)
        group = groups[edge_back]
    waiting[start] -= count
    return count


@kernel
def _begun(ends, groups, weights, capacity):
    """Return a first matching: how many rows, row_of, base, ``Flow`` and ``Trail``.

    ends: int64[n + 1], where the edges of each row begin.
    groups: int32[e], the group of each edge; row r may go to groups[ends[r]] … groups[ends[r + 1] -
        1].
    weights: int64[n], how many rows each row stands for.
    capacity: int64[m], rows that each group takes.
    """
    rows, group_count, edges = len(ends) - 1, len(capacity), len(groups)
    base = np.zeros(group_count + 1, dtype=np.int64)
    row_of = np.empty(edges, dtype=np.int32)
    for row in range(rows):
        for edge in range(ends[row], ends[row + 1]):
            row_of[edge] = row
            base[groups[edge] + 1] += 1
    for group in range(group_count):
        base[group + 1] += base[group]
    flow = Flow(
        weights.copy(),
        np.zeros(group_count, dtype=np.int64),
        np.zeros(group_count, dtype=np.int32),
        np.zeros(edges, dtype=np.int32),
        np.empty(edges, dtype=np.int32),
        np.empty(edges, dtype=np.int32),
    )
    trail = Trail(
        np.zeros(group_count, dtype=np.int64),
        np.empty(group_count, dtype=np.int32),
        np.empty(group_count, dtype=np.int32),
        np.empty(group_count, dtype=np.int32),
        np.zeros(rows, dtype=np.int64),
    )
    return _fill(ends, groups, capacity, base, flow), row_of, base, flow, trail


@kernel(borrows=True)
def _augment(ends, groups, capacity, row_of, base, flow, trail, row, search, steps, block):
    """Search for rows from one on, until more than ``block`` of the steps are taken.

    Returns the next row, the number of the next search, how many rows were matched, and the steps
    left.

    ends: int64[n + 1], where the edges of each row begin.
    groups: int32[e], the group of each edge; row r may go to groups[ends[r]] … groups[ends[r + 1] -
        1].
    capacity: int64[m], rows that each group takes.
    row_of: int32[e], the row of each edge.
    base: int64[m + 1], where the edges of each group begin in ``flow.members``.
    flow: ``Flow``, changed.
    trail: ``Trail``, changed.
    row: int, the row.
    search: int, number of the next search.
    steps: int, steps that are allowed.
    block: int, steps of this call.
    """
    count, least, waiting = 0, steps - block, flow.waiting
    while row < len(ends) - 1 and steps >= least:
        if waiting[row] == 0 or ends[row] == ends[row + 1]:
            row += 1
            continue
        group, steps = _search(
            row, search, ends, groups, row_of, capacity, base, flow, trail, steps
        )
        search += 1
        if steps < 0:
            break
        if group < 0:
            row += 1
        else:
            count += _move(group, row, groups, capacity, base, flow, trail)
    return row, search, count, steps


CALL_STEPS = 2_000_000  # of one call of a kernel


def matched(
    ends: Any, groups: Any, weights: Any, capacity: Any, steps: int, between: Callable[[], None]
) -> int:
    """Return the size of a maximum matching; -1 if that takes more than ``steps`` steps.

    ends: int64[n + 1], where the edges of each row begin.
    groups: int32[e], the group of each edge; row r may go to groups[ends[r]] … groups[ends[r + 1] -
        1].
    weights: int64[n], how many rows each row stands for.
    capacity: int64[m], rows that each group takes.
    steps: steps that are allowed; a step is a look at one group of a row.
    between: called before each CALL_STEPS steps.
    """
    between()
    count, *arrays = _begun(ends, groups, weights, capacity)
    row, search = 0, 1
    while row < len(ends) - 1:
        between()
        row, search, matched_rows, steps = _augment(
            ends, groups, capacity, *arrays, row, search, steps, CALL_STEPS
        )
        if steps < 0:
            return -1
        count += matched_rows
    return count
