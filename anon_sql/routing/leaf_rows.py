"""Assign the rows of an Arrow table to the leaves of a routing tree."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core.arrow import valid
from anon_sql.core.columns import categories, is_number
from anon_sql.core.exact import comparable
from anon_sql.core.printing import cast
from anon_sql.kernels.tree.routed_leaf import Nodes, routed_leaf
from anon_sql.pipeline.request import Request
from anon_sql.routing.route_tree import Cut, Leaf, Test, Tree


class LeafRows:
    """A routing tree prepared for rows in memory."""

    def __init__(self, request: Request, tree: Tree):
        self.request = request
        self.columns = tested_columns(request, tree)
        self.own = {
            name: [at for at, point in enumerate(tree.points) if point.column == name]
            for name in self.columns
        }
        self.points = _cut_points(request, tree, self.own)
        self.nodes = self._nodes(tree)

    def of(self, rows: Mapping[str, pa.Array]) -> npt.NDArray[np.int32]:
        """Return int32[n], the leaf of each row; rows: the columns that are tested, by name."""
        many = len(rows[self.columns[0]])
        keys = np.empty((len(self.columns), many), np.int64)
        present = np.empty((len(self.columns), many), np.bool_)
        points = np.zeros(sum(map(len, self.own.values())), np.int64)
        for at, name in enumerate(self.columns):
            values, own = rows[name], self.own[name]
            present[at] = valid(values)
            keys[at], points[own] = self._keys(name, values, self.points[name])
        found: npt.NDArray[np.int32] = routed_leaf(self.nodes, keys, present, points)
        return found

    def _keys(
        self, name: str, values: pa.Array, points: pa.Array
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return keys of values and of cut points that compare as they do."""
        kind = self.request.quasi[name]
        if len(points) == 0:
            return np.zeros(len(values), np.int64), np.zeros(0, np.int64)
        if is_number(self.request.function, name, kind):
            both = [values, points]
            if pa.types.is_floating(values.type):  # -0.0 equals 0.0
                both = [pc.add(side, pa.scalar(0.0, side.type)) for side in both]
            held, cut = comparable(kind, both)
            return held, cut
        if pa.types.is_dictionary(values.type):
            words, codes = values.dictionary, values.indices
        else:
            text = pc.if_else(values, "true", "false") if values.type == pa.bool_() else values
            encoded = text.dictionary_encode()
            words, codes = encoded.dictionary, encoded.indices
        both = pa.concat_arrays([each.cast(pa.large_string()) for each in (words, points)])
        ranks = categories(name, both).codes.astype(np.int64)
        at = pc.fill_null(codes.cast(pa.int32()), 0).to_numpy()
        held = ranks[at] if len(words) else np.zeros(len(values), np.int64)
        return held, ranks[len(words) :]

    def _nodes(self, tree: Tree) -> Nodes:
        """Return the tree as arrays; the points of a test are consecutive."""
        rows: list[tuple[int, ...]] = []

        def add(node: Cut | Leaf) -> int:
            at = len(rows)
            rows.append(())
            if isinstance(node, Leaf):
                rows[at] = (-1, node.number, 0, False, False, 0, 0)
                return at
            yes, no = add(node.yes), add(node.no)
            column, at_most = self.columns.index(node.column), node.test is Test.AT_MOST
            ends = (node.points[0], node.points[-1] + 1) if node.points else (0, 0)
            rows[at] = (column, yes, no, node.null, at_most, *ends)
            return at

        add(tree.root)
        held = np.array(rows, np.int32).T
        column, yes, no, null, at_most, first, last = map(np.ascontiguousarray, held)
        return Nodes(column, yes, no, null.astype(np.bool_), at_most.astype(np.bool_), first, last)


def tested_columns(request: Request, tree: Tree) -> list[str]:
    """Return the quasi-identifiers that a routing tree tests; the first if it tests none."""
    found: set[str] = set()
    nodes: list[Cut | Leaf] = [tree.root]
    while nodes:
        node = nodes.pop()
        if isinstance(node, Cut):
            found.add(node.column)
            nodes += [node.yes, node.no]
    return [name for name in request.quasi if name in found] or list(request.quasi)[:1]


def _cut_points(request: Request, tree: Tree, own: Mapping[str, list[int]]) -> dict[str, pa.Array]:
    """Return the cut points of each column in its type; own: their numbers by column."""
    kinds = [
        kind if is_number(request.function, name, kind) else "VARCHAR"
        for name in own
        for kind in [request.quasi[name]]
    ]
    texts = [pa.array([tree.points[at].text for at in each], pa.string()) for each in own.values()]
    return dict(zip(own, cast(texts, kinds), strict=True))
