"""The axis of a column that has a hierarchy: the leaves that the column's type can hold."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from anon_sql.core.arrow import valid
from anon_sql.core.columns import numeric_keys
from anon_sql.core.hierarchy.tree import Tree
from anon_sql.core.labels.read import Nodes, read_nodes
from anon_sql.core.printing import cast, evaluated
from anon_sql.errors import AnonError
from anon_sql.measures.domain import Domain
from anon_sql.queries.axis import Axis, members
from anon_sql.queries.quasi import Quasi


@dataclass(frozen=True)
class Leaves:
    """words: the leaves of a tree that the column's type can hold, numbers in their order, text
    sorted by bytes; values: the same in the column's type, text for a text."""

    words: list[str]
    values: pa.Array

    def below(self, tree: Tree, nodes: Nodes) -> list[list[int]]:
        """The places of the leaves below each node, ascending; none for -1."""
        place_of = {word: place for place, word in enumerate(self.words)}
        return [
            sorted(
                place_of[name]
                for name in tree.names[tree.first[node] : tree.last[node] + 1]
                if name in place_of
            )
            if node >= 0
            else []
            for node in nodes.node
        ]


def leaves_of(column: Domain, tree: Tree) -> Leaves:
    """Return the leaves of a column's hierarchy."""
    names = pa.array(tree.names[: tree.leaves], pa.string())
    values = cast([names], [column.sql_type])[0]
    held = valid(values)
    if column.sql_type.startswith("ENUM"):
        held = valid(evaluated({"leaf": names}, [column.sql_type], ["leaf"])[0])
    places = np.flatnonzero(held)
    if column.number:
        keys = numeric_keys(column.sql_type, values)[places]
        places = places[np.argsort(keys, kind="stable")]
    else:
        order = sorted(places, key=lambda place: tree.names[place].encode())
        places = np.array(order, dtype=np.int64)
    return Leaves([tree.names[place] for place in places], values.take(pa.array(places)))


def axis_of_leaves(quasi: Quasi, tree: Tree, shown: pa.Array) -> Axis:
    """Return the axis of a column and its labels. Raises AnonError where the hierarchy lacks a
    value of the column."""
    leaves, below, said = read_labels(quasi, tree, shown)
    if quasi.domain.number:
        values = pa.concat_arrays([leaves.values, pa.nulls(1, leaves.values.type)])
        truths = quasi.truth(values, quasi.domain.sql_type)
    else:
        truths = quasi.word_truth([*leaves.words, None])
    if any(not places for places, node in zip(below, said.node, strict=True) if node >= 0):
        raise quasi.other()
    return Axis.of_sets(truths[:-1], truths[-1], quasi.domain.nulls, said, members(below))


def read_labels(quasi: Quasi, tree: Tree, shown: pa.Array) -> tuple[Leaves, list[list[int]], Nodes]:
    """Return the leaves of a hierarchy, the places of those below each label, and what each says.

    Raises AnonError where the hierarchy lacks a value of the column.
    """
    leaves = leaves_of(quasi.domain, tree)
    _require_covered(quasi, leaves)
    said = read_nodes(tree, quasi.domain.sql_type, shown)
    return leaves, leaves.below(tree, said), said


def _require_covered(quasi: Quasi, leaves: Leaves) -> None:
    values = quasi.values.drop_null()
    if quasi.domain.number:
        both = pa.concat_arrays([values.cast(leaves.values.type), leaves.values])
        keys, known = np.split(numeric_keys(quasi.domain.sql_type, both), [len(values)])
        lacks = int((~np.isin(keys, known)).sum())
    else:
        lacks = len(quasi.place_of.keys() - set(leaves.words) - {None})
    if lacks:
        raise AnonError(
            quasi.function,
            f"the hierarchy must cover every value of {quasi.domain.name}",
            f"{lacks:,} value{'' if lacks == 1 else 's'} that it lacks",
            "check_hierarchy() lists them",
        )
