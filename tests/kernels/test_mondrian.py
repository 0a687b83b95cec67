"""Mondrian's leaves equal those of a plain recursion, whatever the threads."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_sql.core.running import Workers
from anon_sql.kernels import mondrian
from anon_sql.kernels.mondrian import COLUMNS, PARTITIONINGS, mondrian_partition
from tests.drawing import examples
from tests.kernels.legal import asked, legal, made
from tests.loss import NULL, TREE_LEAVES, loss, model_of

pytestmark = pytest.mark.quick


def ranked(kinds, points):
    """Codes that compare: sets by frequency, NULL after all."""
    columns = []
    for kind, values in zip(kinds, points.T, strict=True):
        null = NULL[kind]
        order = {value: value for value in set(values)}
        if kind == "set":
            known = sorted(set(values) - {null})
            known.sort(key=lambda value: -int((values == value).sum()))
            order = {value: at for at, value in enumerate(known)}
        order[null] = 1000.0
        columns.append([order[value] for value in values])
    return list(zip(*columns, strict=True))


def twin(kinds, points, k, partitioning, columns, allowed=lambda rows: True):
    """allowed: whether rows are legal as a side of a cut, apart from their number."""
    model, codes = model_of(kinds, points), ranked(kinds, points)

    def cut(rows):
        wide = [loss(kind, model, c, points[rows, c]) for c, kind in enumerate(kinds)]
        order = [c for c in sorted(range(len(kinds)), key=lambda c: -wide[c]) if wide[c] > 0]
        middle = len(rows) // 2
        if partitioning == "relaxed":
            rank = len(rows) - middle
            by = sorted(rows, key=lambda row: [codes[row][c] for c in order] + [row])
            nulls = sum(codes[row][order[0]] == 1000 for row in rows) if order else 0
            if k <= nulls <= len(rows) - k:
                rank = len(rows) - nulls
            both = by[:rank], by[rank:]
            return both if all(map(allowed, both)) else None
        for c in order if columns == "any" else order[:1]:
            present = [row for row in rows if codes[row][c] < 1000]
            if k <= len(rows) - len(present) and len(present) >= k:
                both = present, [row for row in rows if row not in present]
                if all(map(allowed, both)):
                    return both
                continue
            sides = []
            for edge in sorted({codes[row][c] for row in rows}):
                low = [row for row in rows if codes[row][c] <= edge]
                high = [row for row in rows if codes[row][c] > edge]
                sides.append((abs(Fraction(len(rows), 2) - len(low)), -len(low), low, high))
            low, high = min(sides)[2:]
            if min(len(low), len(high)) >= k and allowed(low) and allowed(high):
                return low, high
        return None

    def leaves(rows):
        sides = cut(rows) if len(rows) >= 2 * k else None
        return [rows] if sides is None else [leaf for s in sides for leaf in leaves(sorted(s))]

    return leaves(list(range(len(points))))


def partition(kinds, points, k, threads=1, **how):
    model = model_of(kinds, points)
    return mondrian_partition(points, model, k, workers=Workers("test", threads), **how)


def as_lists(leaves):
    return [part.tolist() for part in np.split(leaves.order, leaves.starts[1:-1])]


VALUES = {
    "number": [0.0, 0.25, 0.5, 1.0, NULL["number"]],
    "set": [0.0, 1.0, 2.0, 3.0, NULL["set"]],
    "tree": [*map(float, range(TREE_LEAVES)), NULL["tree"]],
}
tables = st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=4).flatmap(
    lambda kinds: st.tuples(
        st.just(kinds),
        st.lists(
            st.tuples(*(st.sampled_from(VALUES[kind]) for kind in kinds)), min_size=1, max_size=50
        ),
    )
)


@examples(300)
@given(tables, st.integers(1, 7), st.sampled_from(PARTITIONINGS), st.sampled_from(COLUMNS))
def test_leaves_are_the_twins(table, k, partitioning, columns):
    kinds, rows = table
    points = np.array(rows)
    found = as_lists(partition(kinds, points, k, partitioning=partitioning, columns=columns))
    assert found == twin(kinds, points, k, partitioning, columns)
    if len(points) >= k:
        assert min(map(len, found)) >= k
    if partitioning == "relaxed":
        assert max(map(len, found)) < max(2 * k, len(points) + 1 if len(points) < 2 * k else 0)


@examples(300)
@given(asked(), st.data(), st.sampled_from(PARTITIONINGS), st.sampled_from(COLUMNS))
def test_both_sides_of_every_cut_are_legal_where_rules_say_so(table, data, partitioning, columns):
    rows, how = table
    kinds = ["number", "set"]
    points = np.array([[data.draw(st.sampled_from(VALUES[kind])) for kind in kinds] for _ in rows])
    constraint = made(rows, how)
    k, rules = constraint.smallest, constraint.rules
    found = partition(kinds, points, k, rules=rules, partitioning=partitioning, columns=columns)

    def allowed(side):
        return legal([rows[row] for row in side], rows, how)

    assert as_lists(found) == twin(kinds, points, k, partitioning, columns, allowed)


@pytest.mark.parametrize("partitioning", PARTITIONINGS)
def test_threads_and_jobs_do_not_show(partitioning, monkeypatch):
    rng = np.random.default_rng(4)
    kinds = ["number", "set", "tree", "number"]
    points = np.column_stack([rng.choice(VALUES[kind], 3000) for kind in kinds])
    points[:, 3] = rng.random(3000)
    wanted = as_lists(partition(kinds, points, 5, partitioning=partitioning))
    monkeypatch.setattr(mondrian, "JOB_ROWS", 200)
    for threads in (1, 2, 3):
        found = partition(kinds, points, 5, threads=threads, partitioning=partitioning)
        assert as_lists(found) == wanted


def test_a_node_that_no_cut_divides_is_one_leaf_above_a_job(monkeypatch):
    monkeypatch.setattr(mondrian, "JOB_ROWS", 8)
    assert as_lists(partition(["number"], np.zeros((20, 1)), 3)) == [list(range(20))]


def test_a_table_worked_out_by_hand():
    """Patients of LeFevre et al., figure 2 (age, sex, zip), k = 2: zip first, then the next."""
    ages, sexes, zips = [25, 25, 26, 27, 27, 28], [1, 0, 1, 1, 0, 1], [1, 1, 1, 0, 2, 1]
    points = np.column_stack([(np.array(ages) - 25) / 3, sexes, np.array(zips) / 2])
    kinds = ["number", "set", "number"]
    # All span 1; age is the first, and its boundary nearest the middle is below 27.
    assert as_lists(partition(kinds, points, 3)) == [[0, 1, 2], [3, 4, 5]]
    assert as_lists(partition(kinds, points, 2)) == [[0, 1, 2], [3, 4, 5]]


def test_null_is_parted_from_values_where_both_keep_k():
    null = NULL["number"]
    points = np.array([[0.0], [null], [0.4], [1.0], [null], [0.9], [null]])
    assert as_lists(partition(["number"], points, 3)) == [[0, 2, 3, 5], [1, 4, 6]]
    assert as_lists(partition(["number"], points, 2)) == [[0, 2], [3, 5], [1, 4, 6]]
