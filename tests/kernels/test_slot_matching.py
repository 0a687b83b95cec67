"""Slots are matched as well as by trying everything, and never take two rows of one owner."""

from itertools import combinations, permutations

import numpy as np
import pytest

from anon_sql import kernels
from anon_sql.linked.bins import bins_of, least_surplus
from anon_sql.linked.unlinked import capped

NUMBERS = kernels.loss.LossModel(
    kind=np.zeros(2, np.int64),
    values=np.zeros(2, np.int64),
    null=np.full(2, 3.0),
    base=np.zeros(2, np.int64),
    last=np.zeros(0, np.int64),
    parent=np.zeros(0, np.int64),
    share=np.zeros(0),
    weight=np.ones(2),
)
SETS = NUMBERS._replace(
    kind=np.full(2, kernels.loss.SET), values=np.full(2, 5), null=np.full(2, 5.0)
)


@pytest.mark.parametrize("seed", range(20))
def test_the_assignment_costs_least(seed):
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(1, 5))
    cost = rng.integers(0, 9, (rows, rows + int(rng.integers(0, 3)))).astype(float)
    found = kernels.slot_matching.assign(cost)
    assert len(set(found)) == rows
    best = min(
        sum(cost[at, column] for at, column in enumerate(chosen))
        for chosen in permutations(range(cost.shape[1]), rows)
    )
    assert cost[np.arange(rows), found].sum() == best


def plain_loss(points, model):
    """The loss of a slot of these points, in plain Python."""
    total = 0.0
    for at in range(points.shape[1]):
        values = set(points[:, at])
        if model.kind[at] == kernels.loss.SET:
            total += len(values) / model.values[at] if len(values) > 1 else 0.0
            continue
        known = [value for value in values if value != model.null[at]]
        if known:
            total += 1.0 if len(known) < len(values) else max(known) - min(known)
    return total


@pytest.mark.parametrize("model", [NUMBERS, SETS], ids=["numbers", "sets"])
@pytest.mark.parametrize("seed", range(10))
def test_two_owners_are_matched_with_the_least_loss(seed, model):
    rng = np.random.default_rng(seed)
    few, many = sorted(map(int, rng.integers(1, 5, 2)))
    values = rng.integers(0, 5, (few + many, 2)).astype(float)
    points = values if model is SETS else np.where(values == 4, 3.0, values / 4)
    owners, groups = np.array([0, few, few + many]), np.array([0, 2])
    slot_of, counts = np.full(few + many, -1, np.int32), np.zeros(1, np.int64)
    kernels.slot_matching.match_groups(points, model, owners, groups, 0, 1, slot_of, counts)
    assert counts[0] == few
    for first, last in ((0, few), (few, few + many)):
        taken = slot_of[first:last]
        assert sorted(taken[taken >= 0]) == list(range(few))
    got = sum(plain_loss(points[slot_of == slot], model) for slot in range(few))
    best = min(
        sum(plain_loss(points[[at, few + other]], model) for at, other in enumerate(chosen))
        for chosen in permutations(range(many), few)
    )
    assert got == pytest.approx(best)


@pytest.mark.parametrize("seed", range(10))
def test_the_alignment_is_the_best_that_keeps_the_order(seed):
    rng = np.random.default_rng(seed)
    slots, many = 3, 6
    points = rng.random((slots + many, 2))
    ends = np.zeros((slots, 2, 3))
    ends[:, :, 0] = ends[:, :, 1] = points[:slots]
    none = np.zeros((slots, 2, 1)), np.zeros((slots, 2), np.int64)
    found = kernels.slot_matching.align(points, NUMBERS, slots, many, slots, ends, *none)
    assert list(found) == sorted(set(found))

    def loss(chosen):
        return sum(plain_loss(points[[at, slots + row]], NUMBERS) for at, row in enumerate(chosen))

    assert loss(found) == pytest.approx(min(map(loss, combinations(range(many), slots))))


@pytest.mark.parametrize("seed", range(20))
def test_the_least_surplus_of_sorted_counts(seed):
    rng = np.random.default_rng(seed)
    k, counts = int(rng.integers(1, 4)), np.sort(rng.geometric(0.3, 11))

    def best(rest):
        if not rest:
            return 0
        options = [
            sum(rest[:size]) - size * rest[0] + best(rest[size:])
            for size in range(k, len(rest) + 1)
            if len(rest) == size or len(rest) - size >= k
        ]
        return min(options)

    assert least_surplus(counts, k) == best([int(n) for n in counts])


@pytest.mark.parametrize("tables", [0, 1, 2, 3])
@pytest.mark.parametrize("seed", range(10))
def test_bins_have_k_persons_and_do_not_depend_on_the_order_of_persons(seed, tables):
    rng = np.random.default_rng(seed)
    k, persons = int(rng.integers(2, 7)), int(rng.integers(8, 200))
    counts = rng.geometric(0.2, (persons, tables)) - 1
    hashes = rng.permutation(persons).astype(np.uint64)
    bins = bins_of(counts.astype(np.int64), k, hashes)
    assert np.bincount(bins).min() >= k
    order = rng.permutation(persons)
    assert (bins_of(counts[order].astype(np.int64), k, hashes[order]) == bins[order]).all()
    if tables == 1:
        surplus = sum(
            int((counts[bins == at] - counts[bins == at].min()).sum()) for at in np.unique(bins)
        )
        assert surplus <= 1.2 * least_surplus(counts[:, 0], k) + 0.01 * counts.sum()


@pytest.mark.parametrize("seed", range(20))
def test_nobody_has_more_than_a_kth_of_the_rows_that_are_kept(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 6))
    person = np.repeat(np.arange(k + 2), rng.geometric(0.2, k + 2))
    kept = capped(person, k)
    many = np.bincount(person[kept])
    assert many.min() >= 1
    assert many.max() * k <= many.sum()
    # one more of each would be too many, or there is none
    most = int(many.max()) + 1
    all_rows = np.bincount(person)
    more = np.minimum(all_rows, most)
    assert all_rows.max() < most or most * k > more.sum()
