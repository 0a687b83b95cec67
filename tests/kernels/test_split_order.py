"""The order by halving is that of a plain recursion."""

import numpy as np
import pytest

from anon_sql.kernels.greedy_orders import SAMPLE_ROWS, STREAM, split_order
from anon_sql.kernels.loss import NUMBER, SET, TREE
from tests.kernels.losses import loss, table
from tests.kernels.test_vp_tree import twin_draw

pytestmark = pytest.mark.quick


def twin(points, rows, model, tries):
    def ncp(part):
        kept = [model._replace(**only(model, c)) for c in range(len(model.kind))]
        return sum(loss(points[:, [c]], kept[c], part) / len(part) for c in range(len(kept)))

    def farthest(among, row):
        return max(among, key=lambda other: round(ncp([row, other]), 9))  # the first of equals

    def split(part, u, v):
        sides = [u], [v]
        near = []
        for row in part:
            if row in (u, v):
                near.append(row == u)
                continue
            grown = [len([*s, row]) * ncp([*s, row]) - len(s) * ncp(s) for s in sides]
            equal = grown[0] == pytest.approx(grown[1], abs=1e-9)
            first = len(sides[0]) <= len(sides[1]) if equal else grown[0] < grown[1]
            near.append(first)
            sides[not first].append(row)
        lost = sum(len(s) * ncp(s) for s in sides)
        return lost, [r for r, n in zip(part, near, strict=True) if n], sides[1]

    def order(part, before, behind):
        if len(part) < 2 or ncp(part) == 0:
            return part
        found, few = [], part[:SAMPLE_ROWS]
        among = few if ncp(few) > 0 else part
        for start in range(min(tries, len(few))):
            v = farthest(among, few[start])
            u = farthest(among, v)
            found.append((round(split(few, u, v)[0], 9), u, v))
        _, u, v = min(found, key=lambda trial: trial[0])
        _, one, _ = split(part, u, v)
        other = [row for row in part if row not in one]
        gain = 0.0
        for row, way in ((before, 1), (behind, -1)):
            if row is not None:
                gain += way * (ncp([*one, row]) - ncp(one) - ncp([*other, row]) + ncp(other))
        if gain > 1e-9:
            one, other, u, v = other, one, v, u
        return order(one, before, v) + order(other, u, behind)

    own = list(rows)
    for left in range(len(own), 1, -1):
        at = twin_draw(STREAM, left) % left
        own[left - 1], own[at] = own[at], own[left - 1]
    return order(own, None, None)


def only(model, column):
    names = ("kind", "values", "null", "base", "weight")
    return {name: getattr(model, name)[[column]] for name in names}


@pytest.mark.parametrize("kinds", [[NUMBER], [SET, SET], [TREE, TREE], [NUMBER, SET, TREE, SET]])
@pytest.mark.parametrize("tries", [1, 3])
def test_order_is_the_twins(kinds, tries):
    points, model = table(60, kinds, len(kinds))
    rows = np.random.default_rng(0).permutation(60).astype(np.int32)
    assert split_order(points, rows, model, tries).tolist() == twin(points, rows, model, tries)


def test_rows_all_but_few_alike():
    """More rows than those on which two far apart are tried, and these alike."""
    points, model = table(SAMPLE_ROWS + 60, [NUMBER, TREE], 0)
    points[5:] = points[5]
    rows = np.arange(len(points), dtype=np.int32)
    assert split_order(points, rows, model, 2).tolist() == twin(points, rows, model, 2)
