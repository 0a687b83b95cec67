"""Test both sides of a cut, hold a partition leaf by leaf, and route rows through a tree."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.legality import short_of, short_of_values
from anon_sql.kernels.sorting import sort_within


@kernel
def legal_rows(rules, rows):
    """Return whether rows satisfy l, t, shares and the k of persons; the caller counts rows.

    rules: ``Rules``, what a class must satisfy besides its number of rows.
    rows: int32[m].
    """
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
    """Return scratch for m rows.

    m: int, most rows.
    """
    keys, next_keys = np.empty(m, np.uint64), np.empty(m, np.uint64)
    ids, next_ids = np.empty(m, np.int32), np.empty(m, np.int32)
    return RowsScratch(keys, next_keys, ids, next_ids, np.empty(m, np.int32), np.empty(m, np.int64))


@kernel(borrows=True, inlined=True)
def legal_within(rules, rows, scratch):
    """Return what ``legal_rows`` does; makes no array.

    rules: ``Rules``, what a class must satisfy besides its number of rows.
    rows: int32[m].
    scratch: ``RowsScratch`` for m rows or more.
    """
    keys = scratch.keys[: rows.size]
    for attribute in range(rules.total.size):
        ascending, size = True, np.int64(0)
        for i in range(rows.size):
            keys[i] = np.uint64(rules.keys[attribute, rows[i]])
            ascending &= i == 0 or keys[i] >= keys[i - 1]
        if not ascending:
            sort_within(keys, scratch.ids[: rows.size], scratch.next_keys, scratch.next_ids)
        for i in range(rows.size):
            value = rules.value[attribute, np.int64(keys[i])]
            if i == 0 or value != scratch.values[size - 1]:
                scratch.values[size], scratch.counts[size] = value, 1
                size += 1
            elif not rules.pairs or keys[i] != keys[i - 1]:
                scratch.counts[size - 1] += 1
        if short_of_values(rules, attribute, scratch.values[:size], scratch.counts[:size]) > 0:
            return False
    return True


@kernel
def legal_cut(rules, rows, side):
    """Return whether the rows of both sides of a cut are legal; always true if rules is None.

    rules: None or ``Rules``.
    rows: int32[m], rows of the node.
    side: bool[m], the rows of one side.
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
    """Return room for the content of nodes; none if rules is None.

    rules: None or ``Rules``.
    n: int, rows of the table.
    """
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
    """Count the content of a node.

    rules: None or ``Rules``.
    side_counts: ``SideCounts``, written.
    rows: int32[m], rows of the node.
    """
    if rules is None:
        return
    for attribute in range(rules.total.size):
        keys = rules.keys[attribute][rows]
        order = np.argsort(keys, kind="mergesort")
        size = 0
        for i in range(order.size):
            key = np.int64(keys[order[i]])
            if size == 0 or side_counts.keys[attribute, size - 1] != key:
                side_counts.keys[attribute, size] = key
                side_counts.all[attribute, size] = 0
                size += 1
            side_counts.all[attribute, size - 1] += 1
            side_counts.position[attribute, rows[order[i]]] = size - 1
        side_counts.size[attribute] = size


@kernel
def rewind(rules, side_counts):
    """Set the cut before all rows.

    rules: None or ``Rules``.
    side_counts: ``SideCounts``, written.
    """
    if rules is None:
        return
    side_counts.moved[0] = 0
    for attribute in range(rules.total.size):
        side_counts.before[attribute, : side_counts.size[attribute]] = 0


@kernel
def legal_at(rules, side_counts, rows, cut):
    """Return whether rows[:cut] and rows[cut:] of the node are both legal.

    Cuts must ascend from call to call, unless ``rewind`` comes between.

    rules: None or ``Rules``.
    side_counts: ``SideCounts`` of the node, its cut moved on.
    rows: int32[m], rows of the node, in walking order.
    cut: int, rows before the cut.
    """
    if rules is None:
        return True
    for attribute in range(rules.total.size):
        for i in range(side_counts.moved[0], cut):
            side_counts.before[attribute, side_counts.position[attribute, rows[i]]] += 1
    side_counts.moved[0] = cut
    for attribute in range(rules.total.size):
        for after_cut in range(2):
            content, size = np.empty(side_counts.size[attribute], np.int64), 0
            for i in range(side_counts.size[attribute]):
                count = side_counts.before[attribute, i]
                if after_cut:
                    count = side_counts.all[attribute, i] - count
                if count > 0:
                    count = 1 if rules.pairs else count
                    content[size] = (side_counts.keys[attribute, i] << 32) + count
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
    """Return the number of the leaf of each row, int32[n].

    nodes: ``Nodes``, the tree.
    keys: int64[d, n], keys of the values of each column.
    present: bool[d, n], whether a value is not NULL.
    points: int64[p], the keys of the cut points.
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
                for i in range(nodes.first[node], nodes.last[node]):
                    passes = passes or keys[column, row] == points[i]
            node = nodes.yes[node] if passes else nodes.no[node]
        leaf[row] = nodes.yes[node]
    return leaf
