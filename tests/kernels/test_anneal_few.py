"""Annealing of a small table takes the steps of the plain twin and returns the exact losses."""

import math

import numpy as np
import pytest

from anon_sql.kernels.annealing_few import COOLING_PROPOSALS, anneal_few
from tests.kernels.test_class_state import every_kind, twin_ncp
from tests.kernels.test_vp_tree import twin_draw


class Twin:
    """Classes of rows, each in the order in which the kernel keeps its rows."""

    def __init__(self, points, model, members):
        self.points, self.model, self.members = points, model, members

    def home(self):
        return {row: at for at, rows in enumerate(self.members) for row in rows}

    def cost(self, rows):
        return len(rows) * twin_ncp(self.points, self.model, rows)

    def total(self):
        return sum(map(self.cost, self.members))

    def warmth(self):
        saved = []
        for rows in self.members:
            whole = twin_ncp(self.points, self.model, rows)
            less = [twin_ncp(self.points, self.model, [x for x in rows if x != y]) for y in rows]
            saved += [len(rows) * (whole - each) for each in less if whole - each > 1e-12]
        return sum(saved) / max(len(saved), 1)

    def anneal(self, near, k, proposals, hot, cold, seed):
        heat, count = hot * self.warmth(), len(self.points)
        for step in range(proposals):
            if step % COOLING_PROPOSALS == COOLING_PROPOSALS - 1:
                heat *= (cold / hot) ** (COOLING_PROPOSALS / proposals)
            bits, more = twin_draw(seed, 2 * step), twin_draw(seed, 2 * step + 1)
            row = ((bits & 0xFFFFFFFF) * count) >> 32
            like = int(near[row][(bits >> 32) % len(near[row])])
            home = self.home()
            a, b = self.members[home[row]], self.members[home[like]]
            other = b[((more & 0xFFFFFFFF) * len(b)) >> 32]
            moves = len(a) > k and len(b) < 2 * k - 1
            if a is b or (other == like and not moves):
                continue
            if moves:  # the last row takes the place of the row that leaves
                left, right = [a[-1] if x == row else x for x in a][:-1], [*b, row]
            else:
                left = [other if x == row else x for x in a]
                right = [row if x == other else x for x in b]
            increase = self.cost(left) + self.cost(right) - self.cost(a) - self.cost(b)
            if increase < -heat * math.log(((more >> 32) + 0.5) / 2**32):
                self.members[home[row]], self.members[home[like]] = left, right


@pytest.mark.parametrize(("seed", "nulls"), [(1, 0.0), (2, 0.1), (3, 0.5)])
@pytest.mark.parametrize("k", [4, 7])
def test_annealed_classes_and_their_loss_are_the_twins(seed, nulls, k):
    points, model = every_kind(70, seed, nulls)
    count = 70 // k - (k == 4)  # some classes have rows to spare
    home = (np.arange(70) * count // 70).astype(np.int32)
    near = np.random.default_rng(seed).integers(0, 70, (70, 5)).astype(np.int32)
    sizes = np.bincount(home)
    members = np.full((count, 2 * k), -1, np.int32)
    members[np.arange(2 * k) < sizes[:, None]] = np.arange(70)
    twin = Twin(points, model, [members[at, : sizes[at]].tolist() for at in range(count)])
    how = (k, 2000, 2.0, 0.02)
    seen = np.zeros(int(model.null.max()) + 2, np.int64)
    state = (home, members, sizes, seen)
    found = anneal_few(np.ascontiguousarray(points.T), model, near, state, *how, np.uint64(seed))
    before = twin.total()
    twin.anneal(near, *how, seed)
    assert [members[at, : sizes[at]].tolist() for at in range(count)] == twin.members
    assert dict(enumerate(home.tolist())) == twin.home()
    assert found == pytest.approx((before, twin.total()))
    assert found[1] < found[0]
    assert k <= sizes.min() <= sizes.max() <= 2 * k - 1


def test_nothing_is_exchanged_where_nothing_is_lost():
    points, model = every_kind(20, 1)
    points[:] = points[0]
    home = np.repeat(np.arange(4, dtype=np.int32), 5)
    members = np.full((4, 10), -1, np.int32)
    members[:, :5] = np.arange(20).reshape(4, 5)
    near = np.zeros((20, 3), np.int32)
    state = (home, members, np.full(4, 5), np.zeros(30, np.int64))
    columns = np.ascontiguousarray(points.T)
    assert anneal_few(columns, model, near, state, 5, 100, 1.0, 0.1, np.uint64(1)) == (0.0, 0.0)
    assert home.tolist() == np.repeat(np.arange(4), 5).tolist()
