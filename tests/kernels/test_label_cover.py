"""The raw rows that a label covers, compared with plain comparisons."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_sql.core.labels.covering import ALL, covered_rows
from anon_sql.core.running import Workers
from anon_sql.kernels.label_cover import NODE_ROWS, arrange
from tests.drawing import examples

pytestmark = pytest.mark.quick


def labels(rng, classes, columns):
    """Ranges in the even columns, sets in the odd ones, as low, high, start, end, flat."""
    low = rng.integers(0, 5, (classes, columns))
    high = low + rng.integers(-1, 4, (classes, columns))
    start, end, flat = np.zeros_like(low), np.zeros_like(low), []
    for at in range(classes):
        for column in range(1, columns, 2):
            members = sorted(set(rng.integers(0, 8, 3).tolist()))
            start[at, column], end[at, column] = len(flat), len(flat) + len(members)
            low[at, column], high[at, column] = members[0], members[-1]
            flat += members
    ends = (each.astype(np.int32) for each in (low, high, start, end))
    return *ends, np.array(flat, dtype=np.int64)


def covers(code, at, given):
    low, high, start, end, flat = given
    sets = [flat[s:e] for s, e in zip(start[at], end[at], strict=True)]
    return all(
        low[at, c] <= x <= high[at, c] and (not len(sets[c]) or x in sets[c])
        for c, x in enumerate(code)
    )


@given(
    seed=st.integers(0, 1 << 32),
    many=st.sampled_from([1, 30, 300]),
    values=st.sampled_from([1, 3, 8]),
    listed=st.sampled_from([0, 3, 10**6]),
)
@examples(100)
def test_as_plain_comparisons(seed, many, values, listed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, values, (many, 3), dtype=np.int32)
    weights, given = rng.integers(1, 9, many), labels(rng, 6, 3)
    raw, of = np.sort(rng.integers(0, 4, many)), np.sort(rng.integers(0, 6, 9))
    classes = rng.integers(0, 6, 9, dtype=np.int32)
    first, last = (np.searchsorted(raw, of, side) for side in ("left", "right"))
    asked = weights, first, last, classes, given, Workers("audit", 2)
    found, counts, heavy, known, looks = covered_rows(codes.copy(), *asked, listed=listed)
    expected = [
        [row for row in range(a, b) if covers(codes[row], at, given)]
        for a, b, at in zip(first, last, classes, strict=True)
    ]
    assert heavy.tolist() == [int(weights[rows].sum()) for rows in expected]
    assert set(np.flatnonzero(known)) == {row for each in expected for row in each}
    assert counts.tolist() == [len(each) for each in expected]
    if sum(counts) <= listed:
        parts = np.split(found, np.cumsum(counts)[:-1])
        assert [sorted(part.tolist()) for part in parts] == expected
    else:
        assert len(found) == 0
    again = covered_rows(codes.copy(), *asked, looks=looks)
    assert again[4] == looks
    assert again[2].tolist() == heavy.tolist()
    assert covered_rows(codes.copy(), *asked, looks=looks - 1)[4] > looks - 1


@given(
    seed=st.integers(0, 1 << 32),
    rows=st.integers(1, 12 * NODE_ROWS),
    values=st.lists(st.sampled_from([1, 2, 70, 1000]), min_size=1, max_size=3),
)
@examples(100)
def test_a_tree_has_each_row_once_and_the_ends_of_its_nodes(seed, rows, values):
    codes = np.random.default_rng(seed).integers(0, values, (rows, len(values)), dtype=np.int32)
    order = np.arange(rows, dtype=np.int32)
    shape = (rows // 8 + 1, len(values))
    low, high, held = (np.full(shape, 7, kind) for kind in (np.int32, np.int32, np.uint64))
    ends = np.full((len(low), 3), -1)
    given = codes.copy()
    count = arrange(given, order, low, high, held, ends)
    assert given.tolist() == codes[order].tolist()
    assert sorted(order.tolist()) == list(range(rows))
    assert ends[0].tolist() == [0, rows, count]
    for node in range(count):
        first, last, after = ends[node].tolist()
        own = codes[order[first:last]]
        assert low[node].tolist() == own.min(axis=0).tolist()
        assert high[node].tolist() == own.max(axis=0).tolist()
        assert held[node].tolist() == [
            sum(1 << code for code in {code % 64 for code in column}) for column in own.T.tolist()
        ]
        if after > node + 1:  # two children, the second after the first
            second = ends[node + 1, 2]
            assert ends[second, 2] == after
            assert ends[[node + 1, second], :2].tolist() == [
                [first, ends[second, 0]],
                [ends[second, 0], last],
            ]
            assert min(ends[second, 0] - first, last - ends[second, 0]) >= NODE_ROWS
        else:
            assert last - first <= 2 * NODE_ROWS or (low[node] == high[node]).all()


def test_few_comparisons_find_the_rows_of_narrow_labels():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 1000, (50_000, 2), dtype=np.int32)
    low = rng.integers(0, 990, (500, 2), dtype=np.int32)
    none = np.zeros((500, 2), np.int32)
    given = (low, low + np.int32(9), none, none, np.zeros(0, np.int64))
    ends = np.zeros(500, np.int64), np.full(500, len(codes))
    asked = codes, np.ones(len(codes), np.int64), *ends, np.arange(500, dtype=np.int32), given
    asked = *asked, Workers("audit", 2)
    inside = [((codes >= a) & (codes <= a + 9)).all(axis=1).sum() for a in low]
    found = covered_rows(*asked, looks=ALL)
    assert found[2].tolist() == inside
    assert found[4] < len(codes) * 500 / 100
