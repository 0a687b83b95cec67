"""Cohorts of a leaf: the posterior of a member, over all worlds and all orders, is exactly 1/l."""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from anon_sql import kernels
from tests.series import plain_placement

UNEVEN = {"a": Fraction(6, 10), "b": Fraction(3, 10), "c": Fraction(1, 10)}
EVEN = dict.fromkeys("abc", Fraction(1, 3))


def form(values, l):  # noqa: E741
    """Return cohorts of rows, which are in a random order, and the rest."""
    columns = len(values[0]) if len(values) else 1
    codes = np.array([[ord(one) for one in value] for value in values], np.int32)
    rows = np.arange(len(values), dtype=np.int32)
    found = kernels.cohorts.form(codes.reshape(len(values), columns), rows, l)
    made = [np.flatnonzero(found == at).tolist() for at in range(found.max(initial=-1) + 1)]
    return made, np.flatnonzero(found < 0).tolist()


def expected(counts, l):  # noqa: E741
    return kernels.cohorts.expected(np.array(counts, np.int64), l, 40)


@pytest.mark.parametrize("seed", range(40))
def test_form_as_without_numba(seed):
    draw = np.random.default_rng(seed)
    for _ in range(20):
        shape = (int(draw.integers(1, 30)), int(draw.integers(1, 3)))
        codes = (draw.random(shape) ** 2 * draw.integers(1, 7)).astype(int)
        values = [tuple("abcdefg"[at] for at in row) for row in codes]
        least = int(draw.integers(2, 4))
        plain, rest = plain_placement.form(values, least)
        made, waits = form(values, least)
        assert [sorted(cohort) for cohort in plain] == made
        assert sorted(rest) == waits


def placed(values, order, l):  # noqa: E741
    """Return the cohorts of the persons in an order, as frozensets, and who waits."""
    made, rest = form([(values[person],) for person in order], l)
    return [frozenset(order[at] for at in cohort) for cohort in made], [order[at] for at in rest]


def seen(cohorts, values):
    """Return what an attacker sees who knows the cohorts: their persons and their values."""
    return frozenset((cohort, "".join(sorted(values[p] for p in cohort))) for cohort in cohorts)


def posteriors(first, later, rates, l):  # noqa: E741
    """Return the largest posterior of a member placed on arrival, and of one who waited before.

    first, later: how many persons come first, and how many after them.
    """
    worlds = defaultdict(Counter)  # what is seen: weight of each world
    arrivals = {}
    for world in product(rates, repeat=first + later):
        weight = Fraction(1)
        for value in world:
            weight *= rates[value]
        for order in permutations(range(first)):
            made, rest = placed(world, order, l)
            second = list(
                product(permutations(sorted(rest)), permutations(range(first, first + later)))
            )
            if later == 0:
                second = [((), ())]
            for waiting, new in second:  # who has waited is divided apart from newcomers
                more = placed(world, waiting, l)[0] + placed(world, new, l)[0]
                view = (seen(made, world), seen(more, world))
                worlds[view][world] += weight / len(second)
                waited = {p for cohort in more for p in cohort if p < first}
                arrivals[view] = ({p for c in made + more for p in c} - waited, waited)
    largest = [Fraction(0), Fraction(0)]
    for view, weights in worlds.items():
        total = sum(weights.values())
        for kind, persons in enumerate(arrivals[view]):
            for person in persons:
                shares = Counter()
                for world, weight in weights.items():
                    shares[world[person]] += weight
                largest[kind] = max(largest[kind], *(share / total for share in shares.values()))
    return largest


@pytest.mark.parametrize("rates", [EVEN, UNEVEN])
@pytest.mark.parametrize(
    ("first", "l"),
    [(4, 2), *(pytest.param(5, least, marks=pytest.mark.slow) for least in (2, 3))],
)
def test_one_release(rates, first, l):  # noqa: E741
    assert posteriors(first, 0, rates, l)[0] == Fraction(1, l)


@pytest.mark.parametrize("rates", [EVEN, UNEVEN])
@pytest.mark.parametrize(("first", "later", "l"), [(3, 2, 2), (2, 3, 2), (3, 2, 3)])
def test_two_releases(rates, first, later, l):  # noqa: E741
    largest, _ = posteriors(first, later, rates, l)
    assert largest == Fraction(1, l)


@pytest.mark.parametrize("l", [2, 3])
def test_a_leaf_without_a_frequent_value_makes_nobody_wait(l):  # noqa: E741
    for values in product("abc", repeat=6):
        made, rest = form([(value,) for value in values], l)
        if max(Counter(values).values()) * l <= 6:
            assert rest == []
        assert sorted([*rest, *(at for cohort in made for at in cohort)]) == list(range(6))
        assert all(len({values[at] for at in cohort}) == len(cohort) >= l for cohort in made)


def test_the_expected_share_is_that_of_halves_dealt_at_random():
    assert expected((6,), 2) == (1.0, 1.0)
    share, bare = expected((1,) * 12, 2)
    assert (share, bare) == (0.0, 0.0)
    share, _ = expected((7, 3, 2), 2)
    assert share > 1 / 12


def histories(first, changes, rates, l):  # noqa: E741
    """Return the largest posterior of a member placed on arrival, over releases with changes.

    first: number of persons of the first release. changes: of each later one, who comes, by number
    from the last on, who leaves and who comes back. A person has a value and a kept one, a tuple
    of both; the attacker sees all cohorts with their tuples in each release, former rows included,
    and who is present.
    """
    persons = first + sum(change[0] for change in changes)
    tuples = {v + w: rates[v] / 2 for v in rates for w in "xy"}
    worlds, arrivals = defaultdict(Counter), {}
    for world in product(tuples, repeat=persons):
        weight = Fraction(1)
        for one in world:
            weight *= tuples[one]
        for view, share, members in runs(first, changes, [one[0] for one in world], l):
            told = tuple((seen_tuples(cohorts, world), present) for cohorts, present in view)
            worlds[told][world] += weight * share
            arrivals[told] = members
    largest = Fraction(0)
    for view, weights in worlds.items():
        total = sum(weights.values())
        for person in arrivals[view]:
            shares = Counter()
            for world, weight in weights.items():
                shares[world[person][0]] += weight
            largest = max(largest, *(share / total for share in shares.values()))
    return largest


def seen_tuples(cohorts, world):
    return frozenset((cohort, tuple(sorted(world[p] for p in cohort))) for cohort in cohorts)


def runs(first, changes, values, l):  # noqa: E741
    """Give what each secret order shows: cohorts and persons of every release, its probability,
    and the members who were placed on arrival."""
    begun = [([], frozenset(), frozenset(), [], Fraction(1), frozenset())]
    steps = [(first, (), ()), *changes]
    known = 0
    for comes, leaves, returns in steps:
        new = range(known, known + comes)
        known += comes
        done = []
        for cohorts, here, waited, view, share, members in begun:
            now = (here | frozenset(new) | frozenset(returns)) - frozenset(leaves)
            kept = [cohort for cohort in cohorts if cohort & now]
            placed_ = {p for cohort in kept for p in cohort}
            free = now - placed_
            old, young = sorted(free & waited), sorted(free - waited)
            orders = list(product(permutations(old), permutations(young)))
            for waiting, coming in orders:  # who has waited is placed apart
                later, arrived = (placed(values, order, l)[0] for order in (waiting, coming))
                whole = kept + later + arrived
                rest = now - {p for cohort in whole for p in cohort}
                own = {p for cohort in arrived for p in cohort}
                done.append(
                    (
                        whole,
                        now,
                        rest,
                        [*view, (whole, now)],
                        share / len(orders),
                        (members | own) - {p for cohort in later for p in cohort},
                    )
                )
        begun = done
    for *_, view, share, members in begun:
        yield view, share, members


@pytest.mark.parametrize("rates", [EVEN, UNEVEN])
@pytest.mark.parametrize(
    ("first", "changes", "l"),
    [
        (4, [(0, (0,), ()), (0, (), (0,))], 2),  # one leaves and comes back
        (2, [(2, (0,), ())], 2),
        (3, [(1, (0,), ()), (0, (1,), (0,))], 2),
        (3, [(1, (0, 1), ()), (0, (2,), (0, 1))], 3),  # a cohort can end, and its members return
    ],
)
def test_leavers_and_who_comes_back(rates, first, changes, l):  # noqa: E741
    assert histories(first, changes, rates, l) == Fraction(1, l)
