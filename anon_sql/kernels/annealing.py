"""Improve the classes of a group by simulated annealing: rows move to the classes of near rows.

Keep the classes of a group, so that the effect of exchanging rows on their loss is known. A class
is described by the count of each category and by its two smallest and two largest numbers, which
suffice for its exact loss without one row and with another. Only when a row leaves that holds one
of the four numbers are the class's other rows scanned.

Source: Kirkpatrick, Gelatt and Vecchi 1983. A row proposes the class of one of the rows near it; it
moves there where both sizes allow, else it is exchanged with a random row of that class.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.distance import draw
from anon_sql.kernels.guard import exchange_price, keep
from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss import SET, TREE, LossModel, range_loss, set_loss

SPREAD = 4  # most codes a row that are counted instead of sorted


class ClassState(NamedTuple):
    """State of C classes of m rows in d columns; rows are numbered from 0, columns are reordered.

    points: float64[m, d]. place: int64[m, d], index in ``counts`` of a row's category in a SET
    column. model: ``LossModel`` of the reordered columns. plain: int64[2]; columns without NULL in
    these rows come first, SET columns up to plain[0], NUMBER columns up to plain[1].

    home: int32[m], the class of a row. members: int32[C, capacity], rows of a class. position:
    int32[m], of a row in its class. size: int64[C]. counts: int32[C, places]. distinct, nulls:
    int64[C, d], categories (NULL excluded) and NULLs. ends: float64[C, d, 4], smallest, second
    smallest, largest, second largest number. ncp: float64[C], NCP of the class, summed over
    columns.
    """

    points: npt.NDArray[np.float64]
    place: npt.NDArray[np.int64]
    model: Any
    plain: npt.NDArray[np.int64]
    home: npt.NDArray[np.int32]
    members: npt.NDArray[np.int32]
    position: npt.NDArray[np.int32]
    size: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int32]
    distinct: npt.NDArray[np.int64]
    nulls: npt.NDArray[np.int64]
    ends: npt.NDArray[np.float64]
    ncp: npt.NDArray[np.float64]


@kernel(widened=True, borrows=True, inlined=True)
def ncp_with(s, at, out, inn):
    """Return the NCP of class ``at`` without row ``out`` and with row ``inn`` (-1: no row).

    The NCP is summed over the columns.
    """
    total = 0.0
    model = s.model
    for c in range(s.plain[0]):
        distinct = s.distinct[at, c]
        gone = s.place[out, c] if out >= 0 else np.int64(-1)
        come = s.place[inn, c] if inn >= 0 else np.int64(-1)
        if gone != come:
            if gone >= 0 and s.counts[at, gone] == 1:
                distinct -= 1
            if come >= 0 and s.counts[at, come] == 0:
                distinct += 1
        total += set_loss(model, c, distinct)
    for c in range(s.plain[0], s.plain[1]):
        low, high = s.ends[at, c, 0], s.ends[at, c, 2]
        if out >= 0:
            value = s.points[out, c]
            low = s.ends[at, c, 1] if value == low else low
            high = s.ends[at, c, 3] if value == high else high
        if inn >= 0:
            value = s.points[inn, c]
            low, high = min(low, value), max(high, value)
        total += max(high - low, 0.0)
    if s.plain[1] < s.points.shape[1]:
        total += _ncp_of_others(s, at, out, inn)
    return total


@kernel(widened=True, borrows=True, inlined=True)
def _ncp_of_others(s, at, out, inn):
    """Return the part of ``ncp_with`` in hierarchies and in columns that hold NULL."""
    total = 0.0
    model = s.model
    size = s.size[at] - (out >= 0) + (inn >= 0)
    for c in range(s.plain[1], s.points.shape[1]):
        nulls = s.nulls[at, c]
        leaves = out >= 0 and s.points[out, c] != model.null[c]
        enters = inn >= 0 and s.points[inn, c] != model.null[c]
        nulls += np.int64(inn >= 0 and not enters) - np.int64(out >= 0 and not leaves)
        if nulls > 0:
            total += model.weight[c] if nulls < size else 0.0
        elif model.kind[c] == SET:
            distinct = s.distinct[at, c]
            same = leaves and enters and s.place[out, c] == s.place[inn, c]
            if leaves and not same and s.counts[at, s.place[out, c]] == 1:
                distinct -= 1
            if enters and not same and s.counts[at, s.place[inn, c]] == 0:
                distinct += 1
            total += set_loss(model, c, distinct)
        else:
            low, high = s.ends[at, c, 0], s.ends[at, c, 2]
            if leaves:
                low = s.ends[at, c, 1] if s.points[out, c] == low else low
                high = s.ends[at, c, 3] if s.points[out, c] == high else high
            if enters:
                low, high = min(low, s.points[inn, c]), max(high, s.points[inn, c])
            if low <= high:
                total += range_loss(model, c, low, high)
    return total


@kernel(widened=True, borrows=True, inlined=True)
def add_member(s, at, row):
    """List a row in class ``at`` of a state with home, position, members and size."""
    s.home[row] = at
    s.position[row] = s.size[at]
    s.members[at, s.size[at]] = row
    s.size[at] += 1


@kernel(widened=True, borrows=True, inlined=True)
def drop_member(s, at, row):
    """Remove a row from the list of class ``at``; the last row takes its place."""
    s.size[at] -= 1
    last = s.members[at, s.size[at]]
    s.members[at, s.position[row]] = last
    s.position[last] = s.position[row]


@kernel(widened=True, borrows=True, inlined=True)
def enter(s, at, row):
    """Add a row to class ``at``; the caller updates ``ncp``."""
    add_member(s, at, row)
    for c in range(s.points.shape[1]):
        value = s.points[row, c]
        if value == s.model.null[c]:
            s.nulls[at, c] += 1
        elif s.model.kind[c] == SET:
            s.counts[at, s.place[row, c]] += 1
            s.distinct[at, c] += s.counts[at, s.place[row, c]] == 1
        else:
            _extend(s.ends[at, c], value)


@kernel(widened=True, borrows=True, inlined=True)
def _extend(ends, value):
    """Update the two smallest and two largest numbers by a value."""
    if value < ends[1]:
        ends[1] = max(value, ends[0])
        ends[0] = min(value, ends[0])
    if value > ends[3]:
        ends[3] = min(value, ends[2])
        ends[2] = max(value, ends[2])


@kernel(widened=True, borrows=True, inlined=True)
def leave(s, at, row):
    """Remove a row from class ``at``; the caller updates ``ncp``."""
    drop_member(s, at, row)
    for c in range(s.points.shape[1]):
        value = s.points[row, c]
        if value == s.model.null[c]:
            s.nulls[at, c] -= 1
        elif s.model.kind[c] == SET:
            s.counts[at, s.place[row, c]] -= 1
            s.distinct[at, c] -= s.counts[at, s.place[row, c]] == 0
        else:
            if value <= s.ends[at, c, 1]:
                _least_again(s, at, c)
            if value >= s.ends[at, c, 3]:
                _largest_again(s, at, c)


@kernel(widened=True, borrows=True, inlined=True)
def _least_again(s, at, c):
    """Find the two smallest numbers of a class after one of them has left."""
    ends, lowest, place = s.ends[at, c], s.ends[at, c, 0], 0
    ends[0] = ends[1] = np.inf
    while place < s.size[at] and ends[1] > lowest:
        value = s.points[s.members[at, place], c]
        if value != s.model.null[c] and value < ends[1]:
            ends[1] = max(value, ends[0])
            ends[0] = min(value, ends[0])
        place += 1


@kernel(widened=True, borrows=True, inlined=True)
def _largest_again(s, at, c):
    """Find the two largest numbers of a class after one of them has left."""
    ends, highest, place = s.ends[at, c], s.ends[at, c, 2], 0
    ends[2] = ends[3] = -np.inf
    while place < s.size[at] and ends[3] < highest:
        value = s.points[s.members[at, place], c]
        if value != s.model.null[c] and value > ends[3]:
            ends[3] = min(value, ends[2])
            ends[2] = max(value, ends[2])
        place += 1


@kernel(widened=True, borrows=True)
def fill(s):
    """Put each row into the class that ``home`` names."""
    s.size[:] = 0
    s.counts[:] = 0
    s.distinct[:] = 0
    s.nulls[:] = 0
    s.ends[:, :, :2], s.ends[:, :, 2:] = np.inf, -np.inf
    for row in range(s.home.size):
        enter(s, s.home[row], row)
    for at in range(s.size.size):
        s.ncp[at] = ncp_with(s, at, -1, -1)


def class_state(
    points: npt.NDArray[np.float64], model: LossModel, classes: npt.NDArray[np.int32], capacity: int
) -> ClassState:
    """Return the state of rows float64[m, d] in classes int32[m] (0 … C - 1).

    capacity: the largest number of rows of a class.
    """
    holds = (points == model.null).any(axis=0)
    rank = np.where(holds | (model.kind == TREE), 2, np.where(model.kind == SET, 0, 1))
    order = np.argsort(rank, kind="stable")
    points = np.ascontiguousarray(points[:, order])
    by_column = ("kind", "values", "null", "base", "weight")
    model = model._replace(**{name: getattr(model, name)[order] for name in by_column})
    place, used = np.zeros(points.shape, np.int64), 0
    for at in np.flatnonzero(model.kind == SET):
        codes = points[:, at].astype(np.int64)
        if model.null[at] > SPREAD * len(codes):
            codes = np.unique(codes, return_inverse=True)[1].reshape(-1)
        ranks = np.cumsum(np.bincount(codes) > 0)
        place[:, at] = used - 1 + ranks[codes]
        used += int(ranks[-1])
    (m, d), count = points.shape, int(classes.max()) + 1
    return ClassState(
        points=points,
        place=place,
        model=model,
        plain=np.searchsorted(rank[order], [1, 2]).astype(np.int64),
        home=classes.astype(np.int32),
        members=np.zeros((count, capacity), np.int32),
        position=np.zeros(m, np.int32),
        size=np.zeros(count, np.int64),
        counts=np.zeros((count, used), np.int32),
        distinct=np.zeros((count, d), np.int64),
        nulls=np.zeros((count, d), np.int64),
        ends=np.zeros((count, d, 4)),
        ncp=np.zeros(count),
    )


COOLING = 1024  # proposals between two changes of temperature
LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)


@kernel(borrows=True)
def warmth(s):
    """Return the mean decrease of |E| * NCP(E) by a row that leaves, over rows whose leaving helps.

    It is the unit of temperatures; 0.0 where no class would lose less without one of its rows.
    """
    total, count = 0.0, 0
    for row in range(s.home.size):
        at = s.home[row]
        gain = s.ncp[at] - ncp_with(s, at, row, -1)
        if gain > 1e-12:
            total += s.size[at] * gain
            count += 1
    return total / max(count, 1)


@kernel(borrows=True, inlined=True)
def proposed(near, seed, step):
    """Return a random row, a row near it, and random bits for what else the step draws.

    near: int32[m, …], rows near each row.
    """
    bits = draw(seed, np.uint64(2 * step))
    row = np.int64(((bits & LOW) * np.uint64(near.shape[0])) >> HALF)
    like = near[row, np.int64((bits >> HALF) % np.uint64(near.shape[1]))]
    return row, like, draw(seed, np.uint64(2 * step + 1))


@kernel(borrows=True, inlined=True)
def tolerated(heat, bits):
    """Return the increase below which a step is taken; bits: random."""
    return -heat * np.log((np.float64(bits >> HALF) + 0.5) / 4294967296.0)


@kernel(borrows=True, inlined=True)
def random_member(s, at, bits):
    """Return a random row of class ``at`` of a state with members and size; bits: random."""
    return s.members[at, np.int64(((bits & LOW) * np.uint64(s.size[at])) >> HALF)]


@kernel(borrows=True)
def anneal(s, guard, near, k, most, proposals, hot, cold, seed):
    """Apply ``proposals`` proposals while cooling from ``hot`` to ``cold``, in units of loss.

    s: ClassState, changed in place. guard: ``Guard``. near: int32[m, …]. Class sizes stay
    in k … most. Returns the change of the sum of |E| * NCP(E) plus the guard's price times the
    change of the shortfalls.
    """
    change = 0.0
    guarded = guard.rules.total.size > 0
    heat, cooling = hot, (cold / hot) ** (COOLING / proposals)
    for step in range(proposals):
        if step % COOLING == COOLING - 1:
            heat *= cooling
        row, like, more = proposed(near, seed, step)
        here, there = s.home[row], s.home[like]
        if here == there:
            continue
        p, q = s.size[here], s.size[there]
        before = p * s.ncp[here] + q * s.ncp[there]
        accepted, other = tolerated(heat, more), random_member(s, there, more)
        for swap in range(0 if p > k and q < most else 1, 2):
            if swap == 1 and other == like:
                continue
            back = other if swap == 1 else np.int32(-1)
            left, right = ncp_with(s, here, row, back), ncp_with(s, there, back, row)
            increase = (p - 1 + swap) * left + (q + 1 - swap) * right - before
            if guarded:
                increase += exchange_price(s, guard, here, there, row, back, accepted - increase)
            if increase < accepted:
                if guarded:
                    keep(s, guard, here, there, row, back)
                leave(s, here, row)
                if swap == 1:
                    leave(s, there, other)
                    enter(s, here, other)
                enter(s, there, row)
                s.ncp[here], s.ncp[there] = left, right
                change += increase
                break
    return change
