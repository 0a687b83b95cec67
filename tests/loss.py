"""NCP of a class in one column, slow and plain, and the models that kernels are given for it."""

import numpy as np

from anon_sql.kernels.loss import NUMBER, SET, TREE, LossModel

NULL = {"number": 3.0, "set": 9.0, "tree": 5.0}  # of a tree: its leaves
TREE_LEAVES = 5
# Leaves 0 … 4 under (0 1) and (2 3 4), these under the root: node 5, node 6, node 7.
LAST = [0, 1, 2, 3, 4, 1, 4, 4]
PARENT = [5, 5, 6, 6, 6, 7, 7, 7]
SHARE = [0.0] * 5 + [2 / 5, 3 / 5, 1.0]
KINDS = {"number": NUMBER, "set": SET, "tree": TREE}


def model_of(kinds, points):
    """The model of columns of the kinds 'number', 'set' and 'tree', the latter of several weights."""
    base, size = [], 0
    for kind in kinds:
        base.append(size)
        size += len(LAST) if kind == "tree" else 0
    trees = kinds.count("tree")
    return LossModel(
        kind=np.array([KINDS[kind] for kind in kinds], dtype=np.int64),
        values=np.array([len(set(column)) for column in points.T], dtype=np.int64),
        null=np.array([NULL[kind] for kind in kinds]),
        base=np.array(base, dtype=np.int64),
        last=np.array(LAST * trees, dtype=np.int64),
        parent=np.array(PARENT * trees, dtype=np.int64),
        share=np.array(SHARE * trees),
        weight=np.array(
            [1.0 if kind == "number" else 0.5 ** (c % 3) for c, kind in enumerate(kinds)]
        ),
    )


def loss(kind, model, column, values):
    """NCP of the values of a class in one column."""
    present = set(values) - {NULL[kind]}
    if len(present) < len(set(values)):
        return model.weight[column] if present else 0.0
    if len(present) < 2:
        return 0.0
    if kind == "number":
        return max(present) - min(present)
    if kind == "set":
        return model.weight[column] * len(present) / int(model.values[column])
    for ancestor, leaves in ((5, {0, 1}), (6, {2, 3, 4}), (7, set(range(5)))):
        if present <= leaves:
            return model.weight[column] * SHARE[ancestor]
    raise AssertionError(present)


def ncp(kinds, model, points):
    """NCP of a class, summed over its columns."""
    return sum(loss(kind, model, c, points[:, c]) for c, kind in enumerate(kinds))
