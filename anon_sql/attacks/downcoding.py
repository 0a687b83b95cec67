"""``attack_downcoding``: count the exact values that minimal labels let an attacker guess.

A minimal range ends at values of its class, and a node of a hierarchy has rows below several of its
children. An attacker who knows this can narrow a label. Cohen (2022), Attacks on deidentification's
defenses, proves for some distributions how far; the figures here are those of one release.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core import stopping
from anon_sql.core.arrow import valid
from anon_sql.core.columns import comparable, places
from anon_sql.core.hierarchy.column import Hierarchical
from anon_sql.core.hierarchy.tree import HierarchyTree
from anon_sql.core.labels.reading import Bools, Ints, read_nodes, read_ranges
from anon_sql.core.parameters import Columns, declare, param
from anon_sql.measures.pair import PairColumns

NAME = "attack_downcoding"
Floats = npt.NDArray[np.float64]
DOWNCODED = pa.struct(
    [
        ("attribute", pa.string()),
        ("rows", pa.int64()),
        ("exact", pa.int64()),
        ("exact_share", pa.float64()),
        ("ends", pa.int64()),
        ("guessed", pa.float64()),
        ("uniform", pa.float64()),
        ("frequent", pa.float64()),
        ("gain", pa.float64()),
        ("known_share", pa.float64()),
        ("sure", pa.int64()),
    ]
)
_MASS = 2.0**52  # of all rows, so that sums of parts are exact
_MAX_VALUES = 2**31  # among more values a guess is practically never right


@dataclass(frozen=True)
class Downcoding:
    """The parameters of ``attack_downcoding``."""

    id: Any = param(
        None,
        Columns(one=True),
        "kept column that identifies the rows of both relations, by which guesses are compared "
        "with the raw table",
        null="none: only rows and exact are counted",
    )


declare(NAME, Downcoding, PairColumns)


@dataclass(frozen=True)
class QuasiColumn:
    """A quasi-identifier of a release with m classes.

    labels: of each class; sizes: int64[m], its rows. values: of each raw row; leaves: the values as
    leaves of the column's hierarchy, None without one. class_of: int64[n], the class of each raw
    row, -1 if it is left out; None if unknown.
    """

    name: str
    sql_type: str
    labels: pa.Array
    sizes: Ints
    values: pa.Array
    leaves: Hierarchical | None
    class_of: Ints | None


def downcoding(columns: Sequence[QuasiColumn]) -> pa.Table:
    """Return a row of ``DOWNCODED`` for each column of ranges, or with a hierarchy."""
    rows = []
    for column in columns:
        stopping.check(NAME)
        figures = _ranges(column) if column.leaves is None else _nodes(column, column.leaves)
        rows.append({"attribute": column.name, **figures})
    return pa.Table.from_pylist(rows, pa.schema(list(DOWNCODED)))


class _Guesses(NamedTuple):
    """The expected number of right guesses for rows whose label covers several values.

    ends: rows whose value is an end of their range, including ranges of one value; None for nodes.
    """

    guessed: float
    uniform: float
    frequent: float | None = None
    ends: int | None = None
    sure: int | None = None


def _row(sizes: Ints, single: Bools, guesses: _Guesses | None) -> dict[str, Any]:
    """Return the figures of a column. sizes, single: the rows of each class with a label, and
    whether the label covers one value."""
    rows, exact = int(sizes.sum()), int(sizes[single].sum())
    row = {"rows": rows, "exact": exact, "exact_share": exact / rows if rows else None}
    if guesses is None:
        return row
    baseline = max(guesses.uniform, guesses.frequent or 0.0)
    return {
        **row,
        **guesses._asdict(),
        "gain": (guesses.guessed - baseline) / (rows - exact) if rows > exact else None,
        "known_share": (exact + max(guesses.guessed, baseline)) / rows if rows else None,
    }


def _ranges(column: QuasiColumn) -> dict[str, Any]:
    """Return the figures of ranges; the attacker guesses one of the two ends."""
    parsed = read_ranges(column.sql_type, column.labels)
    shown = ~(parsed.star | parsed.empty | parsed.malformed)
    low, high = (end.cast(column.values.type).filter(shown) for end in (parsed.low, parsed.high))
    sizes, single = column.sizes[shown], np.equal(*comparable(column.sql_type, [low, high]))
    if column.class_of is None or not len(sizes):
        none = None if column.class_of is None else _Guesses(0.0, 0.0, 0.0, 0, 0)
        return _row(sizes, single, none)
    number = np.append(np.where(shown, np.cumsum(shown) - 1, -1), -1)
    range_of = number[column.class_of]
    raw_rows = np.flatnonzero((range_of >= 0) & valid(column.values))
    both = pa.concat_arrays([low, high, column.values.take(raw_rows)])
    return _row(sizes, single, _of_ends(sizes, range_of[raw_rows], *places(column.sql_type, both)))


def _of_ends(sizes: Ints, range_of: Ints, keys: Ints, place: Floats) -> _Guesses:
    """Return the right guesses for n rows in m ranges.

    sizes: int64[m], the rows of each range; range_of: int64[n], the range of each row. keys, place:
    of all lowest ends, all highest ones, and the values of the rows, as ``places`` returns them.
    """
    many = len(sizes)
    low, high, values = np.split(keys, [many, 2 * many])
    single, count = low == high, place[many : 2 * many] - place[:many] + 1
    at_low, at_high = values == low[range_of], values == high[range_of]
    at_end, several = at_low | at_high, ~single[range_of]
    inside = several & (values >= low[range_of]) & (values <= high[range_of])
    spread = _spread(keys[: 2 * many], place[: 2 * many], sizes)
    true = [np.bincount(range_of, end, many) > 0 for end in (at_low, at_high)]
    sure = bool((true[0] & true[1])[~single].all())
    return _Guesses(
        guessed=0.5 * int((several & at_end).sum()),
        uniform=fsum(1 / count[range_of[inside]]),
        frequent=fsum(spread.right(values[inside], range_of[inside])),
        ends=int(at_end.sum()),
        sure=2 * int((~single).sum()) if sure else 0,
    )


@dataclass(frozen=True)
class _Spread:
    """The likelihood of values if each value of a row's range is equally likely.

    points: the distinct ends, ascending. Interval 2 i is the i-th of them, interval 2 i + 1 the
    values between it and the next one. level: of each interval, higher if its values are likelier.
    best, alike: int64[m], the highest level in each range, and the number of its values with it.
    """

    points: Ints
    level: Ints
    best: Ints
    alike: Ints

    def right(self, keys: Ints, range_of: Ints) -> Floats:
        """Return, per key, the probability that a guess of the likeliest value of its range is
        right; each key must lie in its range."""
        near = np.searchsorted(self.points, keys)
        place = 2 * near - (self.points[near] != keys)
        return np.where(self.level[place] == self.best[range_of], 1 / self.alike[range_of], 0.0)


def _spread(ends: Ints, place: Floats, sizes: Ints) -> _Spread:
    """Return the likelihood of values in m ranges.

    ends: int64[2 m], all lowest and then all highest ends; place: the number of values below each.
    sizes: the rows of each range.
    """
    points, shown_at, end_of = np.unique(ends, return_index=True, return_inverse=True)
    first, last = np.split(2 * end_of.reshape(-1), 2)
    length = np.ones(2 * len(points) - 1, dtype=np.int64)
    length[1::2] = np.minimum(np.diff(place[shown_at]) - 1, _MAX_VALUES)
    many = place[len(sizes) :] - place[: len(sizes)] + 1
    mass = np.floor(_MASS / sizes.sum() * sizes / many).astype(np.int64)
    change = np.zeros(len(length) + 1, dtype=np.int64)
    np.add.at(change, first, mass)
    np.subtract.at(change, last + 1, mass)
    likely = np.where(length > 0, np.cumsum(change[:-1]), -1)
    steps = np.unique(likely)  # likelihoods that differ by less than the rounding error are equal
    levels = np.cumsum(np.diff(steps, prepend=steps[:1]) > 2 * len(sizes)).astype(np.int64)
    level: Ints = np.where(length > 0, levels[np.searchsorted(steps, likely)], -1)
    best = _largest(level, first, last)
    order = np.argsort(level, kind="stable")
    keys, up_to = level[order] * len(level) + order, np.append(0, np.cumsum(length[order]))
    begin = np.searchsorted(keys, best * len(level) + first)
    end = np.searchsorted(keys, best * len(level) + last, "right")
    return _Spread(points, level, best, up_to[end] - up_to[begin])


def _largest(values: Ints, first: Ints, last: Ints) -> Ints:
    """Return the largest of ``values[first], …, values[last]`` for each pair of ends."""
    power = np.frexp((last - first + 1).astype(np.float64))[1] - 1
    largest, width, table = np.empty_like(first), 1, values
    for exponent in range(int(power.max(initial=0)) + 1):
        some = power == exponent
        largest[some] = np.maximum(table[first[some]], table[last[some] - width + 1])
        table = np.maximum(table[:-width], table[width:])
        width *= 2
    return largest


def _nodes(column: QuasiColumn, hierarchical: Hierarchical) -> dict[str, Any]:
    """Return the figures of nodes; the attacker guesses the child below which the release has most
    rows."""
    tree = hierarchical.tree
    parsed = read_nodes(tree, column.sql_type, column.labels)
    shown = parsed.node >= 0
    leaves = tree.last - tree.first + 1
    single = leaves[parsed.node] == 1
    if column.class_of is None:
        return _row(column.sizes[shown], single[shown], None)
    raw_rows = np.flatnonzero(column.class_of >= 0)
    raw_rows = raw_rows[hierarchical.codes[raw_rows] != hierarchical.null_code]
    label = parsed.node[column.class_of[raw_rows]]
    several = (label >= 0) & (leaves[label] > 1)
    leaf, label = hierarchical.codes[raw_rows][several].astype(np.int64), label[several]
    inside = (tree.first[label] <= leaf) & (leaf <= tree.last[label])
    child, label = _child(tree, leaf[inside], label[inside]), label[inside]
    rows = np.bincount(parsed.node[shown], column.sizes[shown], len(tree.names))
    for node in _upwards(tree):
        rows[tree.parent[node]] += rows[node]
    below = np.delete(np.arange(len(tree.names)), tree.root)
    most = np.zeros(len(tree.names))
    np.maximum.at(most, tree.parent[below], rows[below])
    alike = np.bincount(tree.parent[below], rows[below] == most[tree.parent[below]], len(rows))
    right = np.where(rows[child] == most[label], 1 / np.maximum(alike[label], 1), 0.0)
    guesses = _Guesses(fsum(right), fsum(leaves[child] / leaves[label]))
    return _row(column.sizes[shown], single[shown], guesses)


def _upwards(tree: HierarchyTree) -> list[int]:
    """Return the nodes below the root, each after its descendants."""
    return [*range(tree.leaves), *range(len(tree.names) - 1, tree.root, -1)]


def _child(tree: HierarchyTree, leaf: Ints, node: Ints) -> Ints:
    """Return the child of each node that is the leaf or its ancestor."""
    child = leaf.copy()
    while (deep := tree.parent[child] != node).any():
        child[deep] = tree.parent[child[deep]]
    return child
