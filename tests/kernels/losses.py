"""Tables of every kind of column, and a plain computation of their loss."""

import numpy as np

from anon_sql.kernels.loss import NUMBER, SET, TREE, LossModel

LEAVES = 7
CHILDREN = {7: [0, 1, 2], 8: [3, 4], 9: [5, 6], 10: [8, 9], 11: [7, 10]}  # 11 is the root


def tree():
    """last, parent, share of the nodes of CHILDREN."""
    last, parent, count = list(range(LEAVES)), [0] * 12, [1] * LEAVES
    for node, below in CHILDREN.items():
        last.append(last[below[-1]])
        count.append(sum(count[child] for child in below))
        for child in below:
            parent[child] = node
    share = [0.0 if n == 1 else n / LEAVES for n in count]
    return np.array(last), np.array(parent), np.array(share)


def table(n, kinds, seed, nulls=0.1, categories=5):
    """points float64[n, d] and a model, columns of the kinds named and of several weights."""
    rng = np.random.default_rng(seed)
    d = len(kinds)
    points, null = np.zeros((n, d)), np.zeros(d)
    for c, kind in enumerate(kinds):
        if kind == NUMBER:
            points[:, c], null[c] = rng.integers(0, 9, n) / 8, 3.0
        else:
            null[c] = LEAVES if kind == TREE else categories
            points[:, c] = rng.integers(0, int(null[c]), n)
        points[rng.random(n) < nulls, c] = null[c]
    weight = np.array([0.5 ** (c % 3) for c in range(d)])
    numbers = (np.array(kinds) == NUMBER) & (points != null)
    points = np.where(numbers, points * weight, points)
    values = [len(set(points[:, c])) if kind == SET else 0 for c, kind in enumerate(kinds)]
    last, parent, share = tree()
    kinds, values = np.array(kinds, dtype=np.int64), np.array(values, dtype=np.int64)
    model = LossModel(kinds, values, null, np.zeros(d, np.int64), last, parent, share, weight)
    return points, model


def above(leaf, model):
    """The nodes from a leaf up to the root."""
    path = [leaf]
    while path[-1] != len(model.last) - 1:
        path.append(int(model.parent[path[-1]]))
    return path


def loss(points, model, rows):
    """|E| * NCP of a class, summed over the columns."""
    total = 0.0
    for c, kind in enumerate(model.kind):
        held = set(points[rows, c].tolist())
        if len(held) == 1:
            continue
        if model.null[c] in held:
            total += model.weight[c]
        elif kind == NUMBER:
            total += max(held) - min(held)
        elif kind == SET:
            total += model.weight[c] * len(held) / model.values[c]
        else:
            paths = [above(int(leaf), model) for leaf in held]
            common = next(node for node in paths[0] if all(node in path for path in paths))
            total += model.weight[c] * model.share[common]
    return len(rows) * total
