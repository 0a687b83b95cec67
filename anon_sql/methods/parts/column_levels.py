"""The levels of a column: how its values are recoded where all rows have one level.

A column with a hierarchy has the levels of its tree. Numbers, dates and times without one have
their values, the ranges of ``number_ranges``, and ``*``; text without one has its values and ``*``.
NULL stays NULL below the last level.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql.core.columns import Categories
from anon_sql.core.hierarchy.hierarchical import Hierarchical
from anon_sql.core.hierarchy.tree import Tree
from anon_sql.core.labels.bins import AS_CLASS, STARRED
from anon_sql.core.table import Column, QuasiTable
from anon_sql.methods.parts.number_ranges import coded_numbers, present_codes, ranges_of

Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Level:
    """One level of a column of v values.

    group: int32[v], the recoded value of each value, from 0 without gaps. nodes: int32[v], its
    node, as ``Partition.nodes``. loss: float64[v], the NCP of its label. size: recoded values.
    starred: whether every label is ``*``.
    """

    group: Codes
    nodes: Codes
    loss: Floats
    size: int
    starred: bool = False


@dataclass(frozen=True)
class Levels:
    """A column, with its levels from the values up.

    codes: int32[n], the value of each row in canonical order. rows: int64[v], how many rows have
    each value.
    """

    name: str
    codes: Codes
    rows: npt.NDArray[np.int64]
    levels: tuple[Level, ...]

    def losses(self) -> Floats:
        """Return the sum of the NCP of all rows at each level, float64[levels]."""
        return np.array([float((self.rows * level.loss).sum()) for level in self.levels])


def levels_of(table: QuasiTable, column: Column) -> Levels:
    """Return the levels of a column for the rows of the table."""
    if isinstance(column, Hierarchical):
        codes, used = present_codes(column.codes[table.order], column.null_code + 1)
        made = [level_of_nodes(column.tree, nodes[used]) for nodes in node_levels(column)]
    elif isinstance(column, Categories):
        codes, used = present_codes(column.codes[table.order], column.null_code + 1)
        made = [_values(len(used)), _star(len(used))]
    else:
        codes, points, null = coded_numbers(column, table.order)
        ranges = [_of_ranges(bins, points, null) for bins in ranges_of(column, points, null)]
        made = [_values(len(points)), *ranges, _star(len(points))]
    return Levels(column.name, codes, np.bincount(codes, minlength=len(made[0].group)), tuple(made))


def node_levels(column: Hierarchical) -> list[Codes]:
    """Return the node of each leaf, and last of NULL, at each level: -1, at the top the root."""
    nulls = np.full(len(column.tree.levels), -1, dtype=np.int32)
    nulls[-1] = column.tree.root
    return list(np.column_stack([column.tree.levels, nulls]).astype(np.int32))


def level_of_nodes(tree: Tree, nodes: Codes) -> Level:
    """Return a level of a hierarchy; nodes: int32[v]. The root is printed as ``*`` and loses 1."""
    loss = np.where(nodes < 0, 0.0, np.where(nodes == tree.root, 1.0, tree.share[nodes]))
    return _level(nodes, nodes, loss, starred=bool((nodes == tree.root).all()))


def _values(count: int) -> Level:
    every = np.arange(count, dtype=np.int32)
    return Level(every, np.full(count, AS_CLASS, np.int32), np.zeros(count), count)


def _star(count: int) -> Level:
    nodes = np.full(count, STARRED, np.int32)
    return _level(np.zeros(count, np.int32), nodes, np.ones(count), starred=True)


def _level(
    told_apart: npt.NDArray[Any], nodes: Codes, loss: Floats, *, starred: bool = False
) -> Level:
    used, group = np.unique(told_apart, return_inverse=True)
    return Level(group.reshape(-1).astype(np.int32), nodes, loss, len(used), starred)


def _of_ranges(bins: Codes, points: Floats, null: bool) -> Level:
    """Return a level of ranges; bins: int32[v], ascending with the points of the values."""
    starts = np.flatnonzero(np.diff(bins, prepend=-1))
    ends = np.append(starts[1:], len(bins)) - 1
    loss = (points[ends] - points[starts])[bins]
    if not null:
        return _level(bins, bins, loss)
    group = np.append(bins, bins[-1] + 1)
    return _level(group, np.append(bins, np.int32(AS_CLASS)), np.append(loss, 0.0))
