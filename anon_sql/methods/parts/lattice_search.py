"""Find the best legal node of a generalization lattice, without judging every node.

A node is a level of each column. Source: the lattice is that of Samarati 2001; pruning by
predictive tagging is that of OLA (El Emam et al. 2009) and Flash (Kohlmayer et al. 2012), whose
binary search along greedy paths from specific to general nodes is used here. Departures:

- The order of the paths is that of a lower bound of what is minimized, and a node is pruned where
  its bound is not below the best value found. The bound of GCP is exact without suppression: the
  loss of a node is then a sum over columns. Suppression only adds to it, and by no less in every
  more specific node, as there the same rows and more are in groups that are too small.
- Each column is searched alone first, with all others at their highest level; levels of a column
  that suppress too many rows there are illegal everywhere (as in Incognito, LeFevre et al. 2005).

Both prune only what cannot be better, so that the node found is the best of all legal ones.
"""

from collections.abc import Callable, Sequence
from math import inf, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql.errors import AnonError
from anon_sql.methods.parts.column_levels import Levels
from anon_sql.methods.parts.node_verdict import TIE, Verdict
from anon_sql.methods.parts.recoding import Node

MOST = 1 << 22  # nodes of a lattice
Place = tuple[int, ...]


class Search:
    """A search of the lattice of some columns.

    judge: what returns the verdict on a node. tops: the highest level of each column. Afterwards
    ``seen`` has the verdicts in the order in which they were made, ``best`` the best legal one.
    """

    def __init__(
        self,
        function: str,
        columns: Sequence[Levels],
        tops: Node,
        judge: Callable[[Node], Verdict],
        minimize: str,
    ) -> None:
        self.minimize, self._judge = minimize, judge
        self.seen: dict[Node, Verdict] = {}
        self.best: Verdict | None = None
        self._low = tuple(self._lowest(at, tops) for at in range(len(tops)))
        shape = [top - low + 1 for low, top in zip(self._low, tops, strict=True)]
        if prod(shape) > MOST:
            raise AnonError(
                function,
                f"the levels of the columns must have at most {MOST:,} combinations",
                f"{prod(shape):,}",
                "pass hierarchies with fewer levels, or fewer quasi-identifiers",
            )
        self._free = [at for at, size in enumerate(shape) if size > 1]
        self._base = self._sums(columns, tops)
        self._bound = self._base.copy()
        self._open = np.ones(self._base.shape, np.bool_)
        for verdict in list(self.seen.values()):
            self._learn(verdict)
        while (start := self._least()) is not None:
            self._along(self._path(start))

    @property
    def _value(self) -> float:
        return inf if self.best is None else self.best.value(self.minimize)

    def _lowest(self, column: int, tops: Node) -> int:
        """Return the lowest level of a column that passes with the others at their highest."""
        low, high = 0, tops[column]
        while low < high:
            middle = (low + high) // 2
            node = (*tops[:column], middle, *tops[column + 1 :])
            verdict = self.seen.get(node) or self._seen(node)
            low, high = (low, middle) if verdict.passes else (middle + 1, high)
        return low

    def _sums(self, columns: Sequence[Levels], tops: Node) -> npt.NDArray[np.float64]:
        """Return a lower bound of what is minimized at each node."""
        rows = max(int(columns[0].rows.sum()), 1)
        total: npt.NDArray[np.float64] = np.full((1,) * len(self._free), 0.0)
        for at, column in enumerate(columns):
            levels = np.arange(self._low[at], tops[at] + 1)
            lost = column.losses()[self._low[at] : tops[at] + 1] / (rows * len(columns))
            if self.minimize == "dm":
                lost = np.zeros(len(lost))
            else:
                lost = lost / 2 + levels if self.minimize == "height" else lost + TIE * levels
            shape = [-1 if at == free else 1 for free in self._free]
            total = total + (lost.reshape(shape) if at in self._free else lost[0])
        return np.asarray(total)

    def _seen(self, node: Node) -> Verdict:
        """Judge a node, and keep the verdict."""
        verdict = self._judge(node)
        self.seen[node] = verdict
        if verdict.legal and verdict.value(self.minimize) < self._value:
            self.best = verdict
        return verdict

    def _learn(self, verdict: Verdict) -> None:
        """Close nodes and raise bounds by the verdict on a node."""
        place = tuple(verdict.node[at] - self._low[at] for at in self._free)
        if any(level < low for level, low in zip(verdict.node, self._low, strict=True)):
            return
        below = tuple(slice(0, at + 1) for at in place)
        self._open[below if not verdict.passes else place] = False
        least: Any = self._base[below] + verdict.extra / (2 if self.minimize == "height" else 1)
        if self.minimize == "dm":
            above = tuple(slice(at, None) for at in place)
            self._bound[above] = np.maximum(self._bound[above], verdict.squares)
            least = np.float64(float(verdict.few) ** 2)
        self._bound[below] = np.maximum(self._bound[below], least)

    def _least(self) -> Place | None:
        """Return the open node of least bound, None if no node can be better than the best."""
        self._open &= self._bound < self._value
        if not self._open.any():
            return None
        at = int(np.argmin(np.where(self._open, self._bound, inf)))
        return tuple(map(int, np.unravel_index(at, self._open.shape)))

    def _path(self, start: Place) -> list[Place]:
        """Return a path of open nodes, each time to the successor of least bound."""
        path = [start]
        while True:
            nexts = [
                (*path[-1][:at], path[-1][at] + 1, *path[-1][at + 1 :])
                for at in range(len(start))
                if path[-1][at] + 1 < self._open.shape[at]
            ]
            nexts = [place for place in nexts if self._open[place]]
            if not nexts:
                return path
            path.append(min(nexts, key=lambda place: self._bound[place]))

    def _along(self, path: list[Place]) -> None:
        """Judge nodes of a path to find the first that passes, by halves."""
        low, high = 0, len(path) - 1
        while low <= high:
            middle = (low + high) // 2
            node = list(self._low)
            for at, level in zip(self._free, path[middle], strict=True):
                node[at] += level
            verdict = self.seen.get(tuple(node)) or self._seen(tuple(node))
            self._learn(verdict)
            low, high = (low, middle - 1) if verdict.passes else (middle + 1, high)
