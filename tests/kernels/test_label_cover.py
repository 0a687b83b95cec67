"""The raw rows that a label covers, compared with plain comparisons."""

import numpy as np
import pytest

from anon_sql.kernels.legal.label_cover import LARGE, covered
from anon_sql.kernels.legal.matching_rows import matching_rows


def labels(rng, classes, columns, kind=np.int32):
    """Ranges in the even columns, sets in the odd ones, as low, high, start, end, flat."""
    low = rng.integers(0, 5, (classes, columns))
    high = low + rng.integers(0, 4, (classes, columns))
    start, end, flat = np.zeros_like(low), np.zeros_like(low), []
    for at in range(classes):
        for column in range(1, columns, 2):
            members = sorted(set(rng.integers(0, 8, 3).tolist()))
            start[at, column], end[at, column] = len(flat), len(flat) + len(members)
            low[at, column], high[at, column] = members[0], members[-1]
            flat += members
    ends = (each.astype(kind) for each in (low, high, start, end))
    return *ends, np.array(flat, dtype=np.int64)


def covers(code, at, given):
    low, high, start, end, flat = given
    sets = [flat[s:e] for s, e in zip(start[at], end[at], strict=True)]
    return all(
        low[at, c] <= x <= high[at, c] and (not len(sets[c]) or x in sets[c])
        for c, x in enumerate(code)
    )


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("most", [0, 3, 10**6])
def test_as_plain_comparisons(seed, most):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 8, (30, 3), dtype=np.int32)
    given = labels(rng, 6, 3)
    raw = np.sort(rng.integers(0, 4, 30)).astype(np.uint64)
    rows = rng.permutation(30).astype(np.int32)
    of = np.sort(rng.integers(0, 6, 9)).astype(np.uint64)
    classes = rng.integers(0, 6, 9, dtype=np.int32)
    first, last = (np.searchsorted(raw, of, side) for side in ("left", "right"))
    found, many, known = covered(codes, rows, first, last, classes, 0, given, most)
    expected = [
        [row for row in rows[a:b].tolist() if covers(codes[row], at, given)]
        for a, b, at in zip(first, last, classes, strict=True)
    ]
    assert many.tolist() == [len(each) for each in expected]
    assert set(np.flatnonzero(known)) == {row for each in expected for row in each}
    if sum(map(len, expected)) <= most:
        assert found.tolist() == [row for each in expected for row in each]
    else:
        assert len(found) == 0


@pytest.mark.parametrize("column", [0, 1, 2])
def test_weights_of_matching_rows(column):
    rng = np.random.default_rng(column)
    codes, weights = rng.integers(0, 8, (40, 3)), rng.integers(1, 9, 40)
    codes = codes[np.argsort(codes[:, column])]
    given = labels(rng, 12, 3, np.int64)
    expected = [
        sum(int(w) for code, w in zip(codes, weights, strict=True) if covers(code, at, given))
        for at in range(12)
    ]
    found, _ = matching_rows(codes, weights, column, given)
    assert found.tolist() == expected


@pytest.mark.parametrize("column", [0, 1, 2])
def test_a_large_stretch_ascends_in_a_column(column):
    rng = np.random.default_rng(column)
    codes, given = rng.integers(0, 8, (3 * LARGE, 3), dtype=np.int32), labels(rng, 9, 3)
    rows = np.argsort(codes[:, column]).astype(np.int32)
    first, last, classes = (
        np.zeros(9, np.int64),
        np.full(9, len(rows)),
        np.arange(9, dtype=np.int32),
    )
    _, many, known = covered(codes, rows, first, last, classes, column, given, 10**6)
    expected = [{row for row in rows if covers(codes[row], at, given)} for at in range(9)]
    assert many.tolist() == [len(each) for each in expected]
    assert set(np.flatnonzero(known)) == set().union(*expected)
