"""What an attacker finds who knows all cohorts, over all worlds of few persons and all secret orders.

A world says which value each person has; worlds are as likely as base rates say, and orders are
equally likely. The largest posterior of a person who was placed on arrival is exactly 1/l.
"""

from collections import Counter, defaultdict
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations, product
from math import prod

import numpy as np
import pytest

from anon_sql import kernels
from tests.series.plain_placement import form as form_plainly

RATES = {  # even and uneven
    2: [{"a": Fraction(1, 2), "b": Fraction(1, 2)}, {"a": Fraction(4, 5), "b": Fraction(1, 5)}],
    3: [
        dict.fromkeys("abc", Fraction(1, 3)),
        {"a": Fraction(6, 10), "b": Fraction(3, 10), "c": Fraction(1, 10)},
    ],
}
long = pytest.mark.long


def codes_of(values):
    return np.array([[ord(one)] for one in values], np.int32).reshape(-1, 1)


@cache
def formed(values, l):  # noqa: E741
    """Return the cohorts of a leaf whose values are in a secret order, and who waits, by place."""
    rows = np.arange(len(values), dtype=np.int32)
    found = kernels.cohorts.form(codes_of(values), rows, l)
    made = [np.flatnonzero(found == at).tolist() for at in range(found.max(initial=-1) + 1)]
    plain, rest = form_plainly([(one,) for one in values], l)
    assert sorted(map(sorted, plain)) == sorted(made)
    assert sorted(rest) == np.flatnonzero(found < 0).tolist()
    return made, rest


def placed(values, order, l):  # noqa: E741
    """Return the cohorts of persons who come in an order, values being of all."""
    made, _ = formed(tuple(values[person] for person in order), l)
    return [frozenset(order[at] for at in cohort) for cohort in made]


def runs(steps, values, l, again=False):  # noqa: E741
    """Give the cohorts and the persons of every release, its probability over the orders, the
    members who were placed on arrival, and those who had waited.

    steps: for each release how many come, who leaves, who comes back, and who was forgotten before
    it. values: of each person on entry; later ones have no part in any file. again: the control, in
    which the members of a cohort that is gone count as new.
    """
    begun = [([], frozenset(), frozenset(), frozenset(), [], 1, (frozenset(), frozenset()))]
    known = 0
    for comes, leaves, returns, *forgotten in steps:
        new = range(known, known + comes)
        known += comes
        lost = frozenset(*forgotten)
        done = []
        for cohorts, here, waited, gone, view, orders_before, (arrived, later) in begun:
            now = (here | frozenset(new) | frozenset(returns)) - frozenset(leaves)
            kept = [cohort for cohort in cohorts if cohort & now and not cohort & lost]
            ended = {p for cohort in cohorts if cohort not in kept for p in cohort}
            withheld = frozenset() if again else gone | ended | lost
            free = now - withheld - {p for cohort in kept for p in cohort}
            old, young = sorted(free & waited), sorted(free - waited)
            orders = list(product(permutations(old), permutations(young)))
            for waiting, coming in orders:  # who has waited is placed apart
                late, first = (placed(values, order, l) for order in (waiting, coming))
                whole = kept + late + first
                arrived_late = {p for cohort in late for p in cohort}
                members = (arrived | {p for cohort in first for p in cohort}) - arrived_late
                rest = now - withheld - {p for cohort in whole for p in cohort}
                told = [*view, (whole, now)]
                many = orders_before * len(orders)
                kinds = members, (later | arrived_late) - members
                done.append((whole, now, waited | rest, withheld, told, many, kinds))
        begun = done
    for *_, view, orders, members in begun:
        yield view, Fraction(1, orders), members


def seen(cohorts, world):
    return frozenset((cohort, tuple(sorted(world[p] for p in cohort))) for cohort in cohorts)


def largest(steps, values, l, kept="x", files=None, again=False):  # noqa: E741
    """Return the largest posterior of a member placed on arrival, and of one who waited before, for
    each of ``RATES``.

    kept: the values of a kept column on entry, which are equally likely; the attacker sees it, too.
    files: which releases the attacker has, None for all; who is present in which is known of all.
    """
    persons = sum(step[0] for step in steps)
    names = "abc"[:values]
    worlds, members = defaultdict(Counter), {}
    for own in product(names, repeat=persons):
        found = list(runs(steps, own, l, again))
        for beside in product(kept, repeat=persons):
            world = tuple(zip(own, beside, strict=True))
            for view, share, arrived in found:
                had = [view[at] for at in files or range(len(steps))]
                shown = {p for cohorts, _ in had for cohort in cohorts for p in cohort}
                told = tuple((seen(cohorts, world), present) for cohorts, present in had)
                told += tuple(present for _, present in view)
                worlds[told][own] += share
                kinds = members.setdefault(told, (set(), set()))
                for at, people in enumerate(arrived):
                    kinds[at].update(people & shown)
    return [
        (max_posterior(worlds, members, 0, rates), max_posterior(worlds, members, 1, rates))
        for rates in RATES[values]
    ]


def max_posterior(worlds, members, kind, rates):
    most = Fraction(0)
    weight = {
        own: prod(rates[value] for value in own) for own in {w for c in worlds.values() for w in c}
    }
    for told, found in worlds.items():
        own = {world: share * weight[world] for world, share in found.items()}
        total = sum(own.values())
        for person in members[told][kind]:
            shares = Counter()
            for world, share in own.items():
                shares[world[person]] += share
            most = max(most, max(shares.values()) / total)
    return most


@pytest.mark.parametrize(
    ("persons", "values", "l"),
    [
        (4, 3, 2),
        *(pytest.param(5, 3, least, marks=long) for least in (2, 3)),
        *(pytest.param(6, 3, least, marks=long) for least in (2, 3)),
        pytest.param(7, 2, 2, marks=long),
    ],
)
def test_one_release(persons, values, l):  # noqa: E741
    found = largest([(persons, (), ())], values, l)
    assert [arrived for arrived, _ in found] == [Fraction(1, l)] * 2


@pytest.mark.parametrize(
    ("first", "later", "l"),
    [(3, 2, 2), (2, 3, 2), (3, 2, 3), *(pytest.param(3, 3, n, marks=long) for n in (2, 3))],
)
def test_who_waits_and_comes_again(first, later, l):  # noqa: E741
    found = largest([(first, (), ()), (later, (), ())], 3, l)
    assert [arrived for arrived, _ in found] == [Fraction(1, l)] * 2


def test_nothing_is_promised_to_who_has_waited():
    """In three releases of five persons somebody who waited is found for certain."""
    found = largest([(3, (), ()), (1, (), ()), (1, (), ())], 3, 2)
    assert found == [(Fraction(1, 2), 1), (Fraction(1, 2), 1)]


@pytest.mark.parametrize(
    ("steps", "l"),
    [
        ([(4, (), ()), (0, (0,), ()), (0, (), (0,))], 2),  # one leaves and comes back
        ([(2, (), ()), (2, (0,), ())], 2),
        ([(3, (), ()), (1, (0,), ()), (0, (1,), (0,))], 2),
        ([(3, (), ()), (1, (0, 1), ()), (0, (2,), (0, 1))], 3),  # a cohort ends, members return
        pytest.param([(4, (), ()), (1, (0,), ()), (0, (1,), (0,))], 2, marks=long),
        pytest.param([(3, (), ()), (2, (0, 1, 2), ()), (0, (), (0, 1, 2))], 3, marks=long),
        pytest.param([(3, (), ()), (2, (0,), ()), (0, (3,), (0,))], 3, marks=long),
    ],
)
def test_leavers_and_who_comes_back_with_a_kept_column(steps, l):  # noqa: E741
    found = largest(steps, 3, l, kept="xy")
    assert [arrived for arrived, _ in found] == [Fraction(1, l)] * 2


RETURNS = [(2, (), ()), (0, (0, 1), ()), (1, (), (0,))]  # who returns meets a newcomer


@pytest.mark.parametrize(
    "steps",
    [
        RETURNS,
        [(2, (), ()), (1, (), (), (0,))],  # one is forgotten and stays, another comes
        [(3, (), ()), (0, (0, 1), ()), (1, (2,), (0, 1))],
        pytest.param([(3, (), ()), (1, (), (), (0,)), (1, (0,), ())], marks=long),
        pytest.param([(3, (), ()), (0, (2,), ()), (2, (), (2,))], marks=long),  # who waits is away
        pytest.param([(4, (), ()), (0, (0, 1), ()), (1, (2,), (0, 1))], marks=long),
    ],
)
def test_any_of_the_files_with_returns_and_erasure(steps):
    for many in range(1, len(steps) + 1):
        for files in combinations(range(len(steps)), many):
            found = largest(steps, 3, 2, files=files)
            assert all(arrived <= Fraction(1, 2) for arrived, _ in found)


def test_who_is_placed_again_would_be_found():
    """The control: a person who returns is placed again, with a newcomer."""
    assert [arrived for arrived, _ in largest(RETURNS, 3, 2)] == [Fraction(1, 2)] * 2
    assert [arrived for arrived, _ in largest(RETURNS, 3, 2, again=True)] == [1, 1]


@long
@pytest.mark.parametrize(
    ("steps", "l"),
    [
        ([(4, (), ()), (2, (0, 1), ()), (0, (2,), (0,))], 2),
        ([(3, (), ()), (3, (0,), ()), (0, (1, 2), (0,))], 3),
    ],
)
def test_six_persons_who_leave_and_come_back(steps, l):  # noqa: E741
    found = largest(steps, 3, l)
    assert [arrived for arrived, _ in found] == [Fraction(1, l)] * 2


@pytest.mark.parametrize(
    ("persons", "l"), [(5, 2), *(pytest.param(6, least, marks=long) for least in (2, 3))]
)
def test_leaves_that_are_halved_by_their_own_counts(persons, l):  # noqa: E741
    """The attacker knows the leaves, too. Whether they are halved depends on the world."""
    points = np.array([[0.0], [0.1], [0.15], [0.6], [0.8], [1.0]])[:persons]
    weight, judged = np.ones(1), (3, 0.35 if l == 2 else 0.65, 0.75, 40)
    worlds, members, many_leaves = defaultdict(Counter), {}, Counter()
    for own in product("abc", repeat=persons):
        codes = codes_of(own)
        for order in permutations(range(persons)):
            rank = np.array(order, np.uint64)
            rows, starts = np.arange(persons, dtype=np.int32), np.array([0, persons])
            leaf, cohort = kernels.cohorts.divide(
                points, weight, codes, rank, rows, starts, l, judged
            )
            made = [
                frozenset(np.flatnonzero(cohort == at).tolist())
                for at in range(cohort.max(initial=-1) + 1)
            ]
            told = seen(made, own), tuple(leaf.tolist())
            worlds[told][own] += 1
            members[told] = ({p for each in made for p in each},)
            many_leaves[int(leaf.max()) + 1] += 1
    assert len(many_leaves) > 1
    for rates in RATES[3]:
        assert max_posterior(worlds, members, 0, rates) == Fraction(1, l)


def test_a_known_order_would_tell():
    """The control: the key, by which the order is secret, is no detail."""
    worlds, members = defaultdict(Counter), {}
    for own in product("abc", repeat=5):
        for order in permutations(range(5)):
            found = placed(own, order, 2)
            told = seen(found, own), order
            worlds[told][own] += 1
            members[told] = ({p for each in found for p in each},)
    assert [max_posterior(worlds, members, 0, rates) for rates in RATES[3]] == [1, 1]


@long
def test_leaves_that_are_halved_where_both_halves_are_sound_would_tell():
    """The control: whether a leaf is halved must not depend on what the halves look like."""
    worlds, members = defaultdict(Counter), {}
    for own in product("abc", repeat=6):
        sound = all(2 * max(Counter(half).values()) <= len(half) for half in (own[:2], own[2:]))
        for order in permutations(range(6)):
            halves = [[p for p in order if p < 2], [p for p in order if p >= 2]]
            leaves = halves if sound else [order]
            found = [cohort for leaf in leaves for cohort in placed(own, leaf, 2)]
            told = seen(found, own)
            worlds[told][own] += 1
            members[told] = ({p for each in found for p in each},)
    assert [max_posterior(worlds, members, 0, rates) for rates in RATES[3]] == [1, 1]
