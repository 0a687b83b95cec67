"""Grow a routing tree: cut where the fewest classes are divided, in even parts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.printing import printed
from anon_sql.pipeline.request import Request
from anon_sql.routing.cut_choice import Axis, Chosen, best
from anon_sql.routing.route_tree import Cut, Leaf, Point, Test

DEEPEST = 40  # levels of the tree
Orders = Sequence[npt.NDArray[np.int32]]


@dataclass(frozen=True)
class Rows:
    """Rows to cut.

    values: of each quasi-identifier that may be cut, by name; axes: the same. weights: int64[n],
    rows of the table that each row stands for. near: int32[n], the group of near rows of each.
    """

    values: Mapping[str, pa.Array]
    axes: Sequence[Axis]
    weights: npt.NDArray[np.int64]
    near: npt.NDArray[np.int32]

    @property
    def orders(self) -> Orders:
        """Return all rows as each axis sorts them."""
        return [each.order for each in self.axes]

    @property
    def total(self) -> int:
        return int(self.weights.sum())

    def weight(self, orders: Orders) -> int:
        """Return the weight of some rows."""
        return int(self.weights[orders[0]].sum())


@dataclass
class Growing:
    """The state of one growth.

    points: column and value, an array of one, of each cut point. leaves: number of leaves so far.
    """

    points: list[tuple[str, pa.Array]] = field(default_factory=list)
    leaves: int = 0

    def node(
        self,
        rows: Rows,
        orders: Orders,
        most: float,
        depth: int = 0,
        end: Callable[[Orders, int], Cut | Leaf] | None = None,
    ) -> Cut | Leaf:
        """Return the subtree of some rows; orders: the rows as each axis sorts them.

        most: weight of a node that is not cut. depth: of the node. end: makes the subtree of rows
        that are not cut, from their orders and depth; a leaf by default.
        """
        chosen = None
        if depth < DEEPEST and rows.weight(orders) > most:
            chosen = best(rows.axes, orders, rows.weights, rows.near)
        if chosen is None:
            return self.leaf() if end is None else end(orders, depth)
        own = rows.axes[chosen.axis]
        points = tuple(self._point(rows, own, code) for code in chosen.codes)
        passes = np.zeros(len(rows.weights), np.bool_)
        passes[orders[0]] = _passing(own.codes[orders[0]], chosen)
        yes = self.node(rows, [each[passes[each]] for each in orders], most, depth + 1, end)
        no = self.node(rows, [each[~passes[each]] for each in orders], most, depth + 1, end)
        return Cut(own.name, chosen.test, points, chosen.null, yes, no)

    def leaf(self) -> Leaf:
        """Return the next leaf."""
        self.leaves += 1
        return Leaf(self.leaves - 1)

    def _point(self, rows: Rows, own: Axis, code: int) -> int:
        self.points.append((own.name, rows.values[own.name].slice(int(own.first[code]), 1)))
        return len(self.points) - 1

    def texts(self, request: Request) -> tuple[Point, ...]:
        """Return the cut points, printed as DuckDB prints values."""
        found: dict[int, Point] = {}
        for name, kind in request.quasi.items():
            own = [at for at, (column, _) in enumerate(self.points) if column == name]
            if own:
                held = pa.concat_arrays([self.points[at][1] for at in own])
                (texts,) = printed([held], [kind])
                listed = zip(own, texts.to_pylist(), strict=True)
                found.update({at: Point(name, text) for at, text in listed})
        return tuple(found[at] for at in range(len(self.points)))


def _passing(codes: npt.NDArray[np.int32], chosen: Chosen) -> npt.NDArray[np.bool_]:
    """Return which rows pass a test, bool[m]; codes: int32[m], of the axis that it tests."""
    if chosen.test is Test.MISSING:
        return np.asarray(codes < 0)
    if chosen.test is Test.AT_MOST:
        found = codes <= chosen.codes[0]
    else:
        found = np.isin(codes, chosen.codes)
    return np.where(codes < 0, chosen.null, found)
