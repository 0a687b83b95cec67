"""Groups of rows that are recoded alike, counted on distinct combinations of values.

Groups of one node are rolled up to those of a more general node; rows are read once. After
Incognito (LeFevre et al. 2005), which rolls frequency sets up in the same way.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql.core.labels.bins import STARRED
from anon_sql.methods import Partition
from anon_sql.methods.parts.column_levels import Levels

Node = tuple[int, ...]  # the level of each column
Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
MOST = 1 << 62  # largest number of combinations that a key of 64 bits tells apart
KEPT = 64  # nodes whose groups are kept to be rolled up


@dataclass(frozen=True)
class Groups:
    """The g groups of a node. one: int32[g], a record in each; sizes: int64[g], in rows."""

    node: Node
    one: Codes
    sizes: Ints


class Records:
    """The distinct combinations of the values of some columns, and their groups at any node."""

    def __init__(self, columns: Sequence[Levels]) -> None:
        """Count the combinations; rows are in canonical order."""
        self.columns = tuple(columns)
        rows, self._record_of = number(
            [column.codes for column in columns], [len(column.rows) for column in columns]
        )
        self.codes = [
            column.codes[rows].astype(np.min_scalar_type(len(column.rows))) for column in columns
        ]
        sizes = np.bincount(self._record_of, minlength=len(rows))
        every = np.arange(len(rows), dtype=np.int32)
        self._known = [Groups((0,) * len(self.columns), every, sizes)]

    @property
    def rows(self) -> int:
        return len(self._record_of)

    def groups(self, node: Node) -> Groups:
        """Return the groups of a node, rolled up from the fewest that are known."""
        below = [known for known in self._known if all(map(int.__le__, known.node, node))]
        least = min(below, key=lambda known: len(known.one))
        first, group_of = number(*self._recoded(node, least.one))
        sizes = np.bincount(group_of, weights=least.sizes, minlength=len(first)).astype(np.int64)
        found = Groups(node, least.one[first], sizes)
        self._known.append(found)
        if len(self._known) > KEPT:
            del self._known[1]  # never the first, from which every node can be rolled up
        return found

    def starred(self, node: Node) -> bool:
        """Return whether every label of a node is ``*``."""
        return all(c.levels[at].starred for at, c in zip(node, self.columns, strict=True))

    def losses(self, groups: Groups) -> npt.NDArray[np.float64]:
        """Return the sum of the NCP of a row in each group, float64[g]."""
        found = np.zeros(len(groups.one))
        for level, column, codes in zip(groups.node, self.columns, self.codes, strict=True):
            lost = column.levels[level].loss
            if column.levels[level].size == 1:
                found += lost[0]
            elif lost.any():
                found += lost.take(codes.take(groups.one))
        return found

    def of_rows(self, groups: Groups) -> Codes:
        """Return the group of each row, int32[n], in canonical order."""
        every = np.arange(len(self.codes[0]), dtype=np.int32)
        first, group_of = number(*self._recoded(groups.node, every))
        place = np.empty(len(first), np.int32)  # the same groups, numbered as in ``groups``
        place[group_of[groups.one]] = np.arange(len(first), dtype=np.int32)
        return place[group_of][self._record_of]

    def partition(self, groups: Groups, left: npt.NDArray[np.bool_], **stats: float) -> Partition:
        """Return the groups as classes; left: bool[g], those that are suppressed."""
        group_of = self.of_rows(groups)
        suppressed = left[group_of]
        levels = zip(groups.node, self.columns, strict=True)
        nodes = np.column_stack([c.levels[level].nodes[c.codes] for level, c in levels])
        nodes[suppressed] = STARRED
        classes = np.where(suppressed, np.int32(-1), group_of).astype(np.int32)
        return Partition(classes, {**stats, "suppressed": int(suppressed.sum())}, nodes)

    def _recoded(self, node: Node, records: Codes) -> tuple[list[npt.NDArray[Any]], list[int]]:
        """Return the recoded values of records in each column, and how many each has."""
        levels = [column.levels[level] for level, column in zip(node, self.columns, strict=True)]
        apart = [(level, at) for at, level in enumerate(levels) if level.size > 1]
        parts = [level.group.take(self.codes[at].take(records)) for level, at in apart]
        if not parts:
            return [np.zeros(len(records), np.int32)], [1]
        return parts, [level.size for level, _ in apart]


def number(parts: Sequence[npt.NDArray[Any]], sizes: Sequence[int]) -> tuple[Codes, Codes]:
    """Return the first position of each distinct combination, int32[u], and the number of each.

    parts: codes int32[m] of each column, below its size.
    """
    from anon_sql.kernels.hash.numbering import number as number_hashes

    key, held = np.zeros(len(parts[0]), np.int64), 1
    for codes, size in zip(parts, sizes, strict=True):
        if held > MOST // size:
            first, numbers = number_hashes(_mixed(key))
            key, held = numbers.astype(np.int64), len(first)
        key *= size
        key += codes
        held *= size
    if held <= 4 * len(key):
        return _by_place(key, held)
    return number_hashes(_mixed(key))  # type: ignore[no-any-return]


def _by_place(key: Ints, held: int) -> tuple[Codes, Codes]:
    """Return the same as ``number`` for keys from 0 to ``held``, in the order of the keys."""
    one = np.full(held, -1, np.int32)
    one[key[::-1]] = np.arange(len(key) - 1, -1, -1, dtype=np.int32)
    used = one >= 0
    rank = (np.cumsum(used) - 1).astype(np.int32)
    return one[used], rank[key]


def _mixed(key: Ints) -> npt.NDArray[np.uint64]:
    """Return keys with their bits mixed; different keys stay different."""
    mixed = key.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(32))
