"""Test both sides of a cut, and hold a partition leaf by leaf."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.legality import short_of, short_of_values
from anon_sql.kernels.sorting import sort_within


@kernel
def legal_rows(rules, rows):
    """Return whether rows int32[m] satisfy l, t and the k of persons; the caller counts rows."""
    return legal_within(rules, rows, rows_scratch(rows.size))


class RowsScratch(NamedTuple):
    """Scratch for the keys of m rows: next_keys, next_ids for sorting, values and counts."""

    keys: npt.NDArray[np.uint64]
    next_keys: npt.NDArray[np.uint64]
    ids: npt.NDArray[np.int32]
    next_ids: npt.NDArray[np.int32]
    values: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]


@kernel
def rows_scratch(m):
    """Return scratch for m rows."""
    keys, next_keys = np.empty(m, np.uint64), np.empty(m, np.uint64)
    ids, next_ids = np.empty(m, np.int32), np.empty(m, np.int32)
    return RowsScratch(keys, next_keys, ids, next_ids, np.empty(m, np.int32), np.empty(m, np.int64))


@kernel(borrows=True, inlined=True)
def legal_within(rules, rows, scratch):
    """Return what ``legal_rows`` does; makes no array."""
    keys = scratch.keys[: rows.size]
    for attribute in range(rules.total.size):
        ascending, size = True, np.int64(0)
        for at in range(rows.size):
            keys[at] = np.uint64(rules.keys[attribute, rows[at]])
            ascending &= at == 0 or keys[at] >= keys[at - 1]
        if not ascending:
            sort_within(keys, scratch.ids[: rows.size], scratch.next_keys, scratch.next_ids)
        for at in range(rows.size):
            value = rules.value[attribute, np.int64(keys[at])]
            if at == 0 or value != scratch.values[size - 1]:
                scratch.values[size], scratch.counts[size] = value, 1
                size += 1
            elif not rules.pairs or keys[at] != keys[at - 1]:
                scratch.counts[size - 1] += 1
        if short_of_values(rules, attribute, scratch.values[:size], scratch.counts[:size]) > 0:
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


class SideCounts(NamedTuple):
    """Content of a node of m rows, attribute by attribute, and of the part before a moving cut.

    keys: int64[b, m], ascending; size: int64[b], their number. all, before: int64[b, m], rows of
    each key in the node and before the cut. position: int32[b, n], the position of a row's key.
    moved: int64[1], rows before the cut.
    """

    keys: npt.NDArray[np.int64]
    size: npt.NDArray[np.int64]
    all: npt.NDArray[np.int64]
    before: npt.NDArray[np.int64]
    position: npt.NDArray[np.int32]
    moved: npt.NDArray[np.int64]


@kernel
def empty_side_counts(rules, n):
    """Return room for the content of nodes of up to n rows; none where rules is None."""
    attributes, rows = 0, 0
    if rules is not None:
        attributes, rows = rules.total.size, n
    return SideCounts(
        np.empty((attributes, rows), np.int64),
        np.zeros(attributes, np.int64),
        np.empty((attributes, rows), np.int64),
        np.empty((attributes, rows), np.int64),
        np.empty((attributes, rows), np.int32),
        np.zeros(1, np.int64),
    )


@kernel
def hold(rules, side_counts, rows):
    """Count the content of a node of rows int32[m]."""
    if rules is None:
        return
    for attribute in range(rules.total.size):
        own = rules.keys[attribute][rows]
        order = np.argsort(own, kind="mergesort")
        size = 0
        for i in range(order.size):
            key = np.int64(own[order[i]])
            if size == 0 or side_counts.keys[attribute, size - 1] != key:
                side_counts.keys[attribute, size] = key
                side_counts.all[attribute, size] = 0
                size += 1
            side_counts.all[attribute, size - 1] += 1
            side_counts.position[attribute, rows[order[i]]] = size - 1
        side_counts.size[attribute] = size


@kernel
def rewind(rules, side_counts):
    """Set the cut before all rows."""
    if rules is None:
        return
    side_counts.moved[0] = 0
    for attribute in range(rules.total.size):
        side_counts.before[attribute, : side_counts.size[attribute]] = 0


@kernel
def legal_at(rules, side_counts, rows, cut):
    """Return whether rows[:cut] and rows[cut:] of the node, in walking order, are both legal.

    Cuts must ascend from call to call, unless ``rewind`` comes between.
    """
    if rules is None:
        return True
    for attribute in range(rules.total.size):
        for at in range(side_counts.moved[0], cut):
            side_counts.before[attribute, side_counts.position[attribute, rows[at]]] += 1
    side_counts.moved[0] = cut
    for attribute in range(rules.total.size):
        for behind in range(2):
            content, size = np.empty(side_counts.size[attribute], np.int64), 0
            for at in range(side_counts.size[attribute]):
                count = side_counts.before[attribute, at]
                if behind:
                    count = side_counts.all[attribute, at] - count
                if count > 0:
                    count = 1 if rules.pairs else count
                    content[size] = (side_counts.keys[attribute, at] << 32) + count
                    size += 1
            if short_of(rules, attribute, content[:size]) > 0:
                return False
    return True


@dataclass(frozen=True)
class Leaves:
    """A partition in tree order.

    order: int32[n], rows leaf by leaf, ascending within a leaf. starts: int64[leaves + 1], where
    each leaf begins in ``order``.
    """

    order: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]

    @classmethod
    def of(cls, classes: npt.NDArray[np.int32 | np.int64]) -> "Leaves":
        """Return the leaves of class ids int[n], which run from 0 without gaps."""
        order = np.argsort(classes, kind="stable").astype(np.int32)
        counts = np.bincount(classes) if len(classes) else np.zeros(0, np.int64)
        return cls(order, np.concatenate(([0], np.cumsum(counts))).astype(np.int64))

    def classes(self) -> npt.NDArray[np.int32]:
        """Return the class id of every row, int32[n]."""
        classes = np.empty(len(self.order), np.int32)
        leaf = np.arange(len(self.starts) - 1, dtype=np.int32)
        classes[self.order] = np.repeat(leaf, np.diff(self.starts))
        return classes


class Nodes(NamedTuple):
    """A routing tree as arrays, the root first.

    column: int32[m], the column that a node tests; -1 for a leaf. yes, no: int32[m], the node for
    rows that pass and for others; the number of a leaf is its ``yes``. null: bool[m], whether NULL
    passes. at_most: bool[m], whether the test compares with one point by <=; else the points
    first[i] … last[i] - 1, int32[m] each, are listed, and none for a test for NULL.
    """

    column: npt.NDArray[np.int32]
    yes: npt.NDArray[np.int32]
    no: npt.NDArray[np.int32]
    null: npt.NDArray[np.bool_]
    at_most: npt.NDArray[np.bool_]
    first: npt.NDArray[np.int32]
    last: npt.NDArray[np.int32]


@kernel
def routed_leaf(nodes, keys, present, points):
    """Return int32[n], the number of the leaf of each row.

    keys: int64[d, n], of the values of each column; present: bool[d, n], not NULL; points:
    int64[p], the keys of the cut points.
    """
    leaf = np.empty(keys.shape[1], dtype=np.int32)
    for row in range(leaf.size):
        node = 0
        while nodes.column[node] >= 0:
            column = nodes.column[node]
            if not present[column, row]:
                passes = nodes.null[node]
            elif nodes.at_most[node]:
                passes = keys[column, row] <= points[nodes.first[node]]
            else:
                passes = False
                for at in range(nodes.first[node], nodes.last[node]):
                    passes = passes or keys[column, row] == points[at]
            node = nodes.yes[node] if passes else nodes.no[node]
        leaf[row] = nodes.yes[node]
    return leaf
