"""Grow the routing tree on a sample: cut where most information loss is saved in even parts."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.hierarchy.rows import rows_of
from anon_sql.core.printing import printed
from anon_sql.core.table import read
from anon_sql.core.table_domain import Domain
from anon_sql.core.weights import of_columns
from anon_sql.core.workers import Workers
from anon_sql.pipeline.request import Request
from anon_sql.routing.cut_choice import Axis, Chosen, axis, best
from anon_sql.routing.route_tree import Cut, Leaf, Point, Test, Tree
from anon_sql.routing.sampling import WEIGHT

DEEPEST = 40  # levels of the tree: a statement nests as deep
Rows = npt.NDArray[np.int32]


def grow(
    request: Request,
    domain: Domain,
    sample: pa.Table,
    leaf_rows: int,
    paths: pa.StructArray | None = None,
) -> Tree:
    """Return the tree that cuts a sample until each leaf stands for at most ``leaf_rows`` rows.

    sample: as ``sampling.sample_select`` returns it, in any order. paths: the rows of the
    hierarchy. A leaf that no quasi-identifier can cut stays as it is.
    """
    if sample.num_rows == 0:
        return Tree(Leaf(0), (), 1)
    values = {
        name: sample.column(f"quasi_{at}").combine_chunks() for at, name in enumerate(request.quasi)
    }
    weights = sample.column(WEIGHT).to_numpy().astype(np.int64)
    table = read(
        request.function,
        request.quasi,
        values,
        pa.array(np.zeros(len(weights), np.uint64)),
        Workers(request.function),
        rows_of(paths, request.quasi, request.time_zone),
        domain,
    )
    matter = of_columns(request.weights, list(request.quasi))
    axes = [
        replace(axis(column), matters=weight)
        for column, weight in zip(table.columns, matter / matter.max(), strict=True)
    ]
    grown = _Growing(axes, weights, leaf_rows * int(weights.sum()) / max(domain.rows, 1))
    root = grown.node([each.order for each in axes], 0)
    return Tree(root, _texts(request, values, grown.points), grown.leaves)


@dataclass
class _Growing:
    """The state of one growth.

    weights: rows that each sampled row stands for; most: weight of a leaf. points: column and
    sampled row of each cut point; leaves: number of leaves so far.
    """

    axes: Sequence[Axis]
    weights: npt.NDArray[np.int64]
    most: float
    points: list[tuple[str, int]] = field(default_factory=list)
    leaves: int = 0

    def node(self, orders: Sequence[Rows], depth: int) -> Cut | Leaf:
        """Return the subtree of some rows; orders: the rows as each axis sorts them."""
        chosen = None
        if depth < DEEPEST and int(self.weights[orders[0]].sum()) > self.most:
            chosen = best(self.axes, orders, self.weights)
        if chosen is None:
            self.leaves += 1
            return Leaf(self.leaves - 1)
        own = self.axes[chosen.axis]
        points = tuple(self._point(own, code) for code in chosen.codes)
        passes = self._passing(own, chosen)
        yes = self.node([rows[passes[rows]] for rows in orders], depth + 1)
        no = self.node([rows[~passes[rows]] for rows in orders], depth + 1)
        return Cut(own.name, chosen.test, points, chosen.null, yes, no)

    def _passing(self, own: Axis, chosen: Chosen) -> npt.NDArray[np.bool_]:
        """Return which rows of the sample pass a test, bool[n]."""
        if chosen.test is Test.MISSING:
            return np.asarray(own.codes < 0)
        if chosen.test is Test.AT_MOST:
            found = own.codes <= chosen.codes[0]
        else:
            found = np.isin(own.codes, chosen.codes)
        return np.where(own.codes < 0, chosen.null, found)

    def _point(self, own: Axis, code: int) -> int:
        self.points.append((own.name, int(own.first[code])))
        return len(self.points) - 1


def _texts(
    request: Request, values: dict[str, pa.Array], points: Sequence[tuple[str, int]]
) -> tuple[Point, ...]:
    """Return the cut points, printed as DuckDB prints values; points: column and sampled row."""
    found: dict[int, Point] = {}
    for name, array in values.items():
        own = [at for at, (column, _) in enumerate(points) if column == name]
        held = array.take(pa.array([points[at][1] for at in own], pa.int64()))
        (texts,) = printed([held], [request.quasi[name]])
        found.update(
            {at: Point(name, text) for at, text in zip(own, texts.to_pylist(), strict=True)}
        )
    return tuple(found[at] for at in range(len(points)))
