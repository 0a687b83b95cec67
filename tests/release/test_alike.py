"""Classes that print alike are one class, which must be legal too where persons are counted."""

from collections import Counter

import numpy as np
import pytest

from anon_sql.core.hierarchy.column import Hierarchical
from anon_sql.core.hierarchy.tree import Row, grow
from anon_sql.core.table import QuasiTable
from anon_sql.pipeline.compute import common_nodes

# Of a person a value counts once. In the classes 1 and 2 half of the values are x, as in the
# table; in their union one of three is.
PEOPLE = """
    CREATE TABLE people AS SELECT * FROM (VALUES
        ('a', 'P', 'x', 1), ('a', 'P', 'y', 1), ('a', 'P', 'x', 2), ('a', 'Q', 'y', 2),
        ('b', 'Q', 'x', {last}), ('b', 'Q', 'y', {last})
    ) AS rows(c, person, s, class_id)
"""
CALL = (
    "FROM generalize('people', k := 1, quasi := ['c'], sensitive := 's', t := 0.1, "
    "entity := 'person', suppressed := '{mode}')"
)


@pytest.mark.parametrize("mode", ["keep", "drop"])
def test_classes_of_one_label_merge_with_others(con, mode):
    con.execute(PEOPLE.format(last=3))
    released = con.execute(CALL.format(mode=mode)).fetchall()
    assert Counter(row[0] for row in released) == {"{a, b}": 6}


def test_dropped_rows_return_where_they_are_needed(con):
    con.execute(PEOPLE.format(last="NULL"))
    released = con.execute(CALL.format(mode="keep")).fetchall()
    assert Counter(row[0] for row in released) == {"{a, b}": 6}
    released = con.execute(CALL.format(mode="drop")).fetchall()
    assert Counter(row[0] for row in released) == {"{a, b}": 6}


def test_legal_classes_of_one_label_stay(con):
    con.execute(PEOPLE.format(last=3))
    released = con.execute(CALL.format(mode="keep").replace("t := 0.1", "t := 0.2")).fetchall()
    assert Counter(row[0] for row in released) == {"a": 4, "b": 2}


def test_the_lowest_node_above_those_of_a_class():
    paths = {
        "a": ["a", "ab", "*"],
        "b": ["b", "ab", "*"],
        "c": ["c", "C", "*"],
        "d": ["d", "D", "*"],
    }
    rows = [
        Row(leaf, leaf, at, name) for leaf, path in paths.items() for at, name in enumerate(path)
    ]
    tree = grow("f", "c", rows)
    names = ["a", "b", "C", "C", "a", "D", None, None, "ab", None]
    classes = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4], np.int32)
    nodes = np.array([[-1 if name is None else tree.names.index(name)] for name in names], np.int32)
    table = QuasiTable(
        (Hierarchical("c", np.zeros(10, np.int32), tree),), np.arange(10, dtype=np.int32)
    )
    found = common_nodes(table, classes, nodes)[:, 0]
    shown = [None if node < 0 else tree.names[node] for node in found[::2]]
    assert shown == ["ab", "C", "*", None, "*"]
    assert (found[::2] == found[1::2]).all()
    alone = np.where(classes == 0, np.int32(0), np.int32(-1))
    assert common_nodes(table, alone, nodes)[2:, 0].tolist() == nodes[2:, 0].tolist()
