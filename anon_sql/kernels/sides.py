"""May both sides of a cut be classes of their own? What l, t and persons ask, cut by cut."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from anon_sql.kernels.bags import contents
from anon_sql.kernels.legality import short_of


@njit(cache=True, nogil=True)
def legal_rows(rules, rows):
    """Whether rows, int32[m], satisfy l, t and the k of persons; the caller counts rows."""
    for bag in range(rules.total.size):
        if short_of(rules, bag, contents(rules, bag, rows)) > 0:
            return False
    return True


@njit(cache=True, nogil=True)
def legal_cut(rules, rows, side):
    """Whether rows int32[m] marked in side and the others are legal; always where rules is None."""
    if rules is None:
        return True
    return legal_rows(rules, rows[side]) and legal_rows(rules, rows[~side])


class Held(NamedTuple):
    """What a node of m rows holds, bag by bag, and what of it is before a cut that moves on.

    keys: int64[b, m], ascending; size: int64[b], how many; all, before: int64[b, m], rows of each
    key. slot: int32[b, n], the place of a row's key. moved: int64[1], rows before the cut.
    """

    keys: npt.NDArray[np.int64]
    size: npt.NDArray[np.int64]
    all: npt.NDArray[np.int64]
    before: npt.NDArray[np.int64]
    slot: npt.NDArray[np.int32]
    moved: npt.NDArray[np.int64]


@njit(cache=True, nogil=True)
def held_room(rules, n):
    """Room for what nodes of up to n rows hold; nothing where rules is None."""
    bags, rows = 0, 0
    if rules is not None:
        bags, rows = rules.total.size, n
    return Held(
        np.empty((bags, rows), np.int64),
        np.zeros(bags, np.int64),
        np.empty((bags, rows), np.int64),
        np.empty((bags, rows), np.int64),
        np.empty((bags, rows), np.int32),
        np.zeros(1, np.int64),
    )


@njit(cache=True, nogil=True)
def hold(rules, held, rows):
    """Count what a node of rows, int32[m], holds."""
    if rules is None:
        return
    for bag in range(rules.total.size):
        own = rules.keys[bag][rows]
        order = np.argsort(own, kind="mergesort")
        size = 0
        for i in range(order.size):
            key = np.int64(own[order[i]])
            if size == 0 or held.keys[bag, size - 1] != key:
                held.keys[bag, size] = key
                held.all[bag, size] = 0
                size += 1
            held.all[bag, size - 1] += 1
            held.slot[bag, rows[order[i]]] = size - 1
        held.size[bag] = size


@njit(cache=True, nogil=True)
def rewind(rules, held):
    """The cut stands before all rows."""
    if rules is None:
        return
    held.moved[0] = 0
    for bag in range(rules.total.size):
        held.before[bag, : held.size[bag]] = 0


@njit(cache=True, nogil=True)
def legal_at(rules, held, rows, cut):
    """Whether rows[:cut] and rows[cut:] of the node, in the order it is walked, are legal.

    Calls go forward: no cut may be below the one asked before, or ``rewind`` comes between.
    """
    if rules is None:
        return True
    for bag in range(rules.total.size):
        for at in range(held.moved[0], cut):
            held.before[bag, held.slot[bag, rows[at]]] += 1
    held.moved[0] = cut
    for bag in range(rules.total.size):
        for behind in range(2):
            content, size = np.empty(held.size[bag], np.int64), 0
            for at in range(held.size[bag]):
                count = held.before[bag, at]
                if behind:
                    count = held.all[bag, at] - count
                if count > 0:
                    count = 1 if rules.pairs else count
                    content[size] = (held.keys[bag, at] << 32) + count
                    size += 1
            if short_of(rules, bag, content[:size]) > 0:
                return False
    return True
