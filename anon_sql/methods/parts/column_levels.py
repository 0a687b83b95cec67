"""The levels of a column: how its values are recoded where all rows have one level.

A column with a hierarchy has the levels of its tree. Numbers, dates and times without one have
their values, ranges that begin at multiples of a width of 1, 2 or 5 times a power of ten and of its
doubles, and ``*``; text without one has its values and ``*``. NULL stays NULL below the last level.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql.core.columns import Categories, Numbers
from anon_sql.core.hierarchy.hierarchical import Hierarchical
from anon_sql.core.hierarchy.tree import Tree
from anon_sql.core.labels.bins import AS_CLASS, STARRED
from anon_sql.core.table import Column, QuasiTable

Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
PARTS = 20  # the narrowest ranges are at least the twentieth part of all values wide
DENSE = 4  # keys in a stretch of up to so many places per row are coded without a sort


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
    """A column: codes int32[n], the value of each row in canonical order; levels from the values up.

    rows: int64[v], how many rows have each value.
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
        codes, points, null = _numbers(column, table.order)
        made = [_values(len(points)), *_ranges(column, points, null), _star(len(points))]
    return Levels(column.name, codes, np.bincount(codes, minlength=len(made[0].group)), tuple(made))


def node_levels(column: Hierarchical) -> list[Codes]:
    """Return the node of each leaf, and last of NULL, at each level: -1, at the top the root."""
    nulls = np.full(len(column.tree.levels), -1, dtype=np.int32)
    nulls[-1] = column.tree.root
    return list(np.column_stack([column.tree.levels, nulls]).astype(np.int32))


def present_codes(codes: Codes, count: int) -> tuple[Codes, npt.NDArray[np.int64]]:
    """Return codes int32[n] from 0 without gaps, in the same order, and the codes they stand for."""
    used = np.bincount(codes, minlength=count) > 0
    rank = (np.cumsum(used) - 1).astype(np.int32)
    return rank[codes], np.flatnonzero(used)


def level_of_nodes(tree: Tree, nodes: Codes) -> Level:
    """Return a level of a hierarchy; nodes: int32[v]. The root is printed as ``*``, which loses 1."""
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


def _numbers(column: Numbers, order: Codes) -> tuple[Codes, Floats, bool]:
    """Return the codes of the rows in canonical order, the point of each value, and whether the
    last value is NULL."""
    keys, present = column.keys, column.present
    low = int(keys[present].min()) if present.any() else 0
    stretch = int(keys[present].max()) - low if present.any() else 0
    if stretch < DENSE * len(keys):
        codes = np.where(present, keys - low, stretch + 1).astype(np.int32)
        codes, used = present_codes(codes, stretch + 2)
        null = bool(used[-1] == stretch + 1) if len(used) else False
    else:
        used, place = np.unique(keys[present], return_inverse=True)
        codes = np.full(len(keys), len(used), np.int32)
        codes[present], null = place.reshape(-1), not present.all()
    count = int(codes.max()) + 1
    points = np.empty(count)
    points[codes] = column.points
    return codes[order], points, null


def _ranges(column: Numbers, points: Floats, null: bool) -> list[Level]:
    """Return the levels of ranges, each twice as wide as the one before; see the module."""
    known = points[:-1] if null else points
    if column.width <= 0 or len(known) < 3:
        return []
    width = _first_width(column.width)
    place = np.floor((known * column.width + column.least) / width + 1e-9)
    found, before = [], len(known)
    while width < column.width:
        _, bins = np.unique(place, return_inverse=True)
        bins = bins.reshape(-1).astype(np.int32)
        if 1 < bins[-1] + 1 < before:
            found.append(_range_level(bins, known, null))
            before = int(bins[-1]) + 1
        width, place = width * 2, np.floor(place / 2)
    return found


def _first_width(whole: float) -> float:
    """Return the least of 1, 2 and 5 times a power of ten that is a ``PARTS``-th of the whole."""
    least = whole / PARTS
    power = 10.0 ** np.floor(np.log10(least))
    return float(next(step * power for step in (1, 2, 5, 10) if step * power >= least))


def _range_level(bins: Codes, points: Floats, null: bool) -> Level:
    """Return the level of ranges; bins: int32[v], ascending with the points of the values."""
    starts = np.flatnonzero(np.diff(bins, prepend=-1))
    ends = np.append(starts[1:], len(bins)) - 1
    loss = (points[ends] - points[starts])[bins]
    if not null:
        return _level(bins, bins, loss)
    group = np.append(bins, bins[-1] + 1)
    return _level(group, np.append(bins, np.int32(AS_CLASS)), np.append(loss, 0.0))
