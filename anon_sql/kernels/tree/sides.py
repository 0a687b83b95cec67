"""Test whether both sides of a cut satisfy l, t and the k of persons."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.legal.bags import contents
from anon_sql.kernels.legal.legality import short_of


@kernel
def legal_rows(rules, rows):
    """Return whether rows int32[m] satisfy l, t and the k of persons; the caller counts rows."""
    for bag in range(rules.total.size):
        if short_of(rules, bag, contents(rules, bag, rows)) > 0:
            return False
    return True


@kernel
def legal_cut(rules, rows, side):
    """Return whether the rows int32[m] marked in ``side`` and the others are both legal.

    Always true where rules is None.
    """
    if rules is None:
        return True
    return legal_rows(rules, rows[side]) and legal_rows(rules, rows[~side])


class Held(NamedTuple):
    """Content of a node of m rows, bag by bag, and of the part before a moving cut.

    keys: int64[b, m], ascending; size: int64[b], their number. all, before: int64[b, m], rows of
    each key in the node and before the cut. slot: int32[b, n], the position of a row's key. moved:
    int64[1], rows before the cut.
    """

    keys: npt.NDArray[np.int64]
    size: npt.NDArray[np.int64]
    all: npt.NDArray[np.int64]
    before: npt.NDArray[np.int64]
    slot: npt.NDArray[np.int32]
    moved: npt.NDArray[np.int64]


@kernel
def held_room(rules, n):
    """Return room for the content of nodes of up to n rows; none where rules is None."""
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


@kernel
def hold(rules, held, rows):
    """Count the content of a node of rows int32[m]."""
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


@kernel
def rewind(rules, held):
    """Set the cut before all rows."""
    if rules is None:
        return
    held.moved[0] = 0
    for bag in range(rules.total.size):
        held.before[bag, : held.size[bag]] = 0


@kernel
def legal_at(rules, held, rows, cut):
    """Return whether rows[:cut] and rows[cut:] of the node, in walking order, are both legal.

    Cuts must ascend from call to call, unless ``rewind`` comes between.
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
