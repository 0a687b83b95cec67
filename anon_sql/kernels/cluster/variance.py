"""Improve classes by the sum of squared distances of rows from the mean of their class (SSE).

Simulated annealing as in ``annealing``: a row moves to the class of a near row, or is exchanged
with one of its rows. Between two anneals, classes are dissolved whose rows lose less elsewhere
(after the iterative refinement of Soria-Comas, Domingo-Ferrer and Mulero 2019, ONA).
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.cluster.annealing import COOLING, drawn_member, proposed, tolerated
from anon_sql.kernels.cluster.class_state import add_member, drop_member
from anon_sql.kernels.kernel import kernel


class Means(NamedTuple):
    """m rows in C classes.

    x: float64[m, d]. home: int32[m], the class of a row. members: int32[C, room], rows of a class.
    slot: int32[m], position of a row in its class. size: int64[C]. mean: float64[C, d].
    """

    x: npt.NDArray[np.float64]
    home: npt.NDArray[np.int32]
    members: npt.NDArray[np.int32]
    slot: npt.NDArray[np.int32]
    size: npt.NDArray[np.int64]
    mean: npt.NDArray[np.float64]


def means_of(x: npt.NDArray[np.float64], classes: npt.NDArray[np.int32], room: int) -> Means:
    """Return the state of rows float64[m, d] in classes int32[m] (0 … C - 1).

    room: the largest number of rows of a class.
    """
    m, count = len(x), int(classes.max()) + 1
    state = Means(
        np.ascontiguousarray(x),
        classes.astype(np.int32),
        np.zeros((count, room), np.int32),
        np.zeros(m, np.int32),
        np.zeros(count, np.int64),
        np.zeros((count, x.shape[1])),
    )
    fill(state)
    return state


@kernel
def fill(s):
    """Put each row into the class that ``home`` names, and compute the means."""
    s.size[:] = 0
    s.mean[:] = 0.0
    for row in range(s.home.size):
        at = s.home[row]
        add_member(s, at, row)
        for c in range(s.x.shape[1]):
            s.mean[at, c] += s.x[row, c]
    for at in range(s.size.size):
        for c in range(s.x.shape[1]):
            s.mean[at, c] /= max(s.size[at], 1)


@kernel
def squares(s):
    """Return the SSE."""
    total = 0.0
    for row in range(s.home.size):
        total += away(s, row, s.home[row])
    return total


@kernel
def away(s, row, at):
    """Return the squared distance of a row from the mean of class ``at``."""
    total = 0.0
    for c in range(s.x.shape[1]):
        total += (s.x[row, c] - s.mean[at, c]) ** 2
    return total


@kernel
def between(s, a, b):
    """Return the squared distance of two rows."""
    total = 0.0
    for c in range(s.x.shape[1]):
        total += (s.x[a, c] - s.x[b, c]) ** 2
    return total


@kernel
def leave(s, at, row):
    """Remove a row from its class ``at``."""
    drop_member(s, at, row)
    for c in range(s.x.shape[1]):
        s.mean[at, c] += (s.mean[at, c] - s.x[row, c]) / max(s.size[at], 1)


@kernel
def enter(s, at, row):
    """Add a row to class ``at``."""
    add_member(s, at, row)
    for c in range(s.x.shape[1]):
        s.mean[at, c] += (s.x[row, c] - s.mean[at, c]) / s.size[at]


@kernel
def move_cost(s, row, here, there):
    """Return the change of the SSE by a row that moves; ``here`` has another row."""
    p, q = s.size[here], s.size[there]
    return away(s, row, there) * q / (q + 1) - away(s, row, here) * p / (p - 1)


@kernel
def swap_cost(s, row, back, here, there):
    """Return the change of the SSE by an exchange of two rows."""
    far = between(s, row, back) * (1 / s.size[here] + 1 / s.size[there])
    out = away(s, row, there) - away(s, row, here)
    return out + away(s, back, here) - away(s, back, there) - far


@kernel
def anneal(s, near, k, most, proposals, hot, cold, seed):
    """Apply ``proposals`` proposals while cooling from ``hot`` to ``cold``, in units of the SSE.

    s: Means, changed in place. near: int32[m, …], rows near each row. Sizes stay in k … most.
    """
    heat, cooling = hot, (cold / hot) ** (COOLING / proposals)
    for step in range(proposals):
        if step % COOLING == COOLING - 1:
            heat *= cooling
        row, like, more = proposed(near, seed, step)
        here, there = s.home[row], s.home[like]
        if here == there:
            continue
        accepted = tolerated(heat, more)
        moves = s.size[here] > k and s.size[there] < most
        if moves and move_cost(s, row, here, there) < accepted:
            leave(s, here, row)
            enter(s, there, row)
            continue
        back = drawn_member(s, there, more)
        if swap_cost(s, row, back, here, there) < accepted:
            leave(s, here, row)
            leave(s, there, back)
            enter(s, here, back)
            enter(s, there, row)


@kernel
def dissolve(s, near, most):
    """Move all rows of a class to the classes of near rows, class by class, where the SSE falls.

    An emptied class keeps its number and has size 0. Returns how many were emptied.
    """
    emptied, width = 0, near.shape[1]
    rows, came = np.empty(most, np.int32), np.empty(most, np.int32)
    for at in range(s.size.size):
        count, saved, cost = s.size[at], 0.0, 0.0
        for place in range(count):
            rows[place] = s.members[at, place]
            saved += away(s, rows[place], at)
        done = 0
        for place in range(count):
            row, best, target = rows[place], np.inf, -1
            for i in range(width):
                there = s.home[near[row, i]]
                if there == at or s.size[there] >= most:
                    continue
                q = s.size[there]
                price = away(s, row, there) * q / (q + 1)
                if price < best:
                    best, target = price, there
            cost += best
            if cost >= saved - 1e-12:
                break
            leave(s, at, row)
            enter(s, target, row)
            came[place] = target
            done += 1
        if done == count:
            emptied += 1
        else:
            for place in range(done):
                leave(s, came[place], rows[place])
                enter(s, at, rows[place])
    return emptied
