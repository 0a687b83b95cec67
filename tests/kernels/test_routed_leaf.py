"""The kernel follows a routing tree as a plain walk does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_sql.kernels.sides import Nodes, routed_leaf
from tests.drawing import examples

pytestmark = pytest.mark.quick

POINTS = 4  # keys of the cut points are 0, 10, 20 and 30


@st.composite
def trees(draw, columns):
    """Return the nodes of a tree, the root first, with leaves numbered as they come."""
    nodes, leaves = [], 0

    def add(depth):
        nonlocal leaves
        at = len(nodes)
        nodes.append(None)
        if depth == 3 or draw(st.booleans()):
            nodes[at] = (-1, leaves, 0, False, False, 0, 0)
            leaves += 1
            return at
        first = draw(st.integers(0, POINTS - 1))
        at_most = draw(st.booleans())
        last = first + 1 if at_most else draw(st.integers(first, POINTS))
        column, null = draw(st.integers(0, columns - 1)), draw(st.booleans())
        yes, no = add(depth + 1), add(depth + 1)
        nodes[at] = (column, yes, no, null, at_most, first, last)
        return at

    add(0)
    return nodes


def walked(nodes, keys, points):
    column, yes, no, null, at_most, first, last = nodes[0]
    while column >= 0:
        key = keys[column]
        if key is None:
            passes = null
        elif at_most:
            passes = key <= points[first]
        else:
            passes = key in points[first:last]
        column, yes, no, null, at_most, first, last = nodes[yes if passes else no]
    return yes


@examples(60)
@given(st.data())
def test_every_row_comes_to_the_leaf_of_a_plain_walk(data):
    columns = data.draw(st.integers(1, 3))
    nodes = data.draw(trees(columns))
    key = st.one_of(st.none(), st.integers(-1, 31), st.sampled_from([0, 10, 20, 30]))
    rows = data.draw(st.lists(st.tuples(*[key] * columns), max_size=12))
    points = [0, 10, 20, 30]
    kinds = [np.int32, np.int32, np.int32, np.bool_, np.bool_, np.int32, np.int32]
    arrays = (
        np.array(held, kind) for held, kind in zip(zip(*nodes, strict=True), kinds, strict=True)
    )
    keys = np.array([[0 if k is None else k for k in row] for row in rows], np.int64)
    present = np.array([[k is not None for k in row] for row in rows], np.bool_)
    found = routed_leaf(
        Nodes(*arrays),
        np.ascontiguousarray(keys.reshape(-1, columns).T),
        np.ascontiguousarray(present.reshape(-1, columns).T),
        np.array(points, np.int64),
    )
    assert found.tolist() == [walked(nodes, row, points) for row in rows]
