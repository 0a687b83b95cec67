"""Hierarchies as trees: numbering, ancestors, shares and levels against plain twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_sql.core.hierarchy.tree import Row, grow, read_paths
from anon_sql.core.labels import grammar as labels
from anon_sql.errors import AnonError
from tests.drawing import examples

pytestmark = pytest.mark.quick


def rows_of(paths):
    """Rows of paths as a file has them: the value first, None for a cell that is missing."""
    return [
        Row(value, value, level, label)
        for value, *above in paths
        for level, label in enumerate(above, 1)
        if label is not None
    ]


def tree_of(paths, **more):
    return grow("f", "c", rows_of(paths), **more)


def above(paths, leaf):
    """The names on a leaf's way to the root, itself first, the root as '*'; a slow twin."""
    found = next([n for n in path if n is not None] for path in paths if path[0] == leaf)
    return ["*" if name == "*" else name for name in dict.fromkeys(found)]


@st.composite
def ragged(draw):
    """Paths of a random tree whose names are its own, some shorter, some with repetitions."""
    paths, names = [], iter(f"{'lbxé'[i % 4]}{i}" for i in range(10_000))

    def down(above, depth):
        for _ in range(draw(st.integers(1, 4))):
            name = next(names)
            if depth == 0 or draw(st.booleans()):
                path = [name, *above]
                paths.append([path[0], *(p for q in path for p in [q] * draw(st.integers(1, 2)))])
            else:
                down([name, *above], depth - 1)

    down(["*"], 3)
    return draw(st.permutations(paths))


@examples(100)
@given(ragged(), st.data())
def test_ancestors_and_leaf_counts_are_those_of_the_paths(paths, data):
    tree = tree_of(paths)
    leaves = [path[0] for path in paths]
    assert sorted(tree.names[: tree.leaves]) == sorted(leaves)
    some = data.draw(st.lists(st.sampled_from(leaves), min_size=1))
    codes = np.array([tree.names.index(leaf) for leaf in some])
    node = int(tree.ancestor(codes.min(keepdims=True), codes.max(keepdims=True))[0])
    common = [n for n in above(paths, some[0]) if all(n in above(paths, leaf) for leaf in some)]
    assert tree.names[node] == common[0]
    below = [leaf for leaf in leaves if common[0] in above(paths, leaf)]
    assert sorted(tree.members(node)) == sorted(below)
    wanted = len(below) / len(leaves) if len(below) > 1 else 0.0
    assert tree.share[node] == wanted


@examples(100)
@given(ragged())
def test_the_kernel_climbs_to_the_same_share(paths):
    from anon_sql.kernels.loss import TREE, LossModel, range_loss

    tree = tree_of(paths)
    none = np.zeros(1, dtype=np.int64)
    model = LossModel(
        *(np.array([TREE]), none, none.astype(float), none, tree.last, tree.parent, tree.share),
        weight=np.ones(1),
    )
    for low in range(tree.leaves):
        for high in range(low, tree.leaves):
            node = tree.ancestor(np.array([low]), np.array([high]))[0]
            assert range_loss(model, 0, float(low), float(high)) == tree.share[node]


@examples(100)
@given(ragged())
def test_a_level_is_a_node_above_each_leaf_and_the_top_is_the_root(paths):
    tree = tree_of(paths)
    assert (tree.levels[0] == np.arange(tree.leaves)).all()
    assert (tree.levels[-1] == tree.root).all()
    for level, below in zip(tree.levels[1:], tree.levels, strict=False):
        assert (tree.first[level] <= tree.first[below]).all()
        assert (tree.last[level] >= tree.last[below]).all()


@examples(100)
@given(ragged())
def test_the_tree_does_not_depend_on_the_order_of_the_rows(paths):
    one, other = tree_of(paths), tree_of(sorted(paths))
    assert one.names == other.names
    assert (one.parent == other.parent).all()


def test_siblings_stand_by_bytes_and_numbers_by_value():
    paths = [["b", "x", "*"], ["a", "x", "*"], ["é", "B", "*"], ["z", "*", None]]
    assert tree_of(paths).names == ("é", "a", "b", "z", "*", "B", "x")
    ages = [["9", "young", "*"], ["30", "mid", "*"], ["100", "old", "*"], ["8", "young", "*"]]
    rank = {"8": 0, "9": 1, "30": 2, "100": 3}
    tree = tree_of(ages, rank=rank)
    assert tree.names == ("8", "9", "30", "100", "*", "young", "mid", "old")
    assert tree.intervals
    mixed = [["8", "even", "*"], ["9", "odd", "*"], ["30", "even", "*"], ["n/a", "odd", "*"]]
    assert not tree_of(mixed, rank={"8": 0, "9": 1, "30": 2}).intervals


def test_a_shorter_path_stays_at_its_leaf_for_longer():
    tree = tree_of([["a", "A", "AA", "*"], ["b", "BB", "*"], ["c", "*"]])
    shown = [[tree.names[node] for node in level] for level in tree.levels]
    assert tree.names[:3] == ("a", "b", "c")
    assert shown == [["a", "b", "c"], ["A", "b", "c"], ["AA", "BB", "c"], ["*", "*", "*"]]


def test_any_root_and_none_are_printed_as_a_star():
    for paths in (
        [["a", "World"], ["b", "World"]],
        [["a", "x"], ["b", "y"]],
        [["a", "x"], ["b", "*"]],
        [["a", "a"], ["b", "b"]],
        [["a", "a"]],
        [["*", "World"], ["b", "World"]],
    ):
        tree = tree_of(paths)
        assert tree.texts[tree.root] == "*"
        assert tree.parent[tree.root] == tree.root
        assert tree.last[tree.root] == tree.leaves - 1
        assert len(set(tree.texts)) == len(tree.texts)


def test_values_that_differ_in_case_are_values_of_their_own():
    tree = tree_of([["a", "x", "*"], ["A", "X", "*"]])
    assert tree.names == ("A", "a", "*", "X", "x")


def test_printed_labels_stand_in_quotes_where_they_could_be_something_else():
    tree = tree_of(
        [["it's", "[17, 20[", "*"], ["", "NULL", "*"], ["20", "2", "*"]],
        values=frozenset({"2"}),
    )
    assert tree.texts[: tree.leaves] == ("20", "''", "'it\\'s'")
    assert set(tree.texts[tree.leaves :]) == {"*", "'2'", "'NULL'", "'[17, 20['"}
    assert [labels.values(text) for text in tree.texts if text != "*"] == [
        [name] for name in tree.names if name != "*"
    ]


@pytest.mark.parametrize(
    ("paths", "fault", "said"),
    [
        (
            [["a", "x", "*"], ["a", "x", "*"]],
            "listed twice",
            "must list a value once, got a value of c",
        ),
        (
            [["a", "x", "A"], ["b", "x", "B"]],
            "two parents",
            "must have one parent, got 'x' of c with A, B",
        ),
        (
            [["a", "b", "*"], ["b", "*"]],
            "also a leaf",
            "not be a value of another branch, got a label of c with",
        ),
        ([["a", "x", "y"], ["b", "y", "x"]], "above itself", "must not be above itself, got"),
        (
            [["a", "*", "x"], ["b", "*", "x"]],
            "* below a label",
            "the label [*] of a hierarchy must be its root",
        ),
    ],
)
def test_what_is_no_tree_is_refused_and_named(paths, fault, said):
    assert [found.fault for found in read_paths(rows_of(paths)).faults()] == [fault]
    with pytest.raises(AnonError, match=said):
        tree_of(paths)
