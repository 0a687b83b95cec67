"""The row groups of an audit and the raw rows they may stem from, against plain counting."""

from collections import Counter
from itertools import pairwise

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from anon_sql.audit import persons as comparing
from anon_sql.audit.persons import GroupCounter, sources, unmatched
from anon_sql.core.labels.covering import ALL
from anon_sql.core.running import Workers

CLASSES = 6


@st.composite
def tables(draw):
    """Raw rows of kept value and two codes, released rows of class and kept value, and the ranges
    of the classes."""
    seeded = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    kept, raw, released = (draw(st.integers(*ends)) for ends in ((1, 4), (0, 300), (0, 60)))
    rows = seeded.integers(0, (kept, 10, 10), (raw, 3)).tolist()
    pairs = seeded.integers(0, (CLASSES, kept), (released, 2)).tolist()
    low = seeded.integers(0, 8, (CLASSES, 2, 1))
    ends = np.append(low, low + seeded.integers(-1, 9, low.shape), axis=2).astype(np.int32)
    return rows, sorted(map(tuple, pairs)), ends


def hashes(kept):
    """Hashes that end alike, as those of one part do, one of NULL among them."""
    return (np.array(kept, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)) << np.uint64(8)


def counted(raw, released, rows, with_released=True):
    found = GroupCounter(with_released)
    for first in range(0, len(raw), rows):
        some = raw[first : first + rows]
        found.add_raw(hashes([row[0] for row in some]), np.ones(len(some), np.int32))
    for first in range(0, len(released), rows):
        some = released[first : first + rows]
        classes = np.array([own for own, _ in some], dtype=np.int32)
        weights = np.ones(len(some), np.int32)
        found.add_released(hashes([kept for _, kept in some]), classes, weights)
    return found


def groups_of(raw, released):
    """Hash, class, capacity and raw rows of each group, by hash and class."""
    capacity = Counter((hashes([kept]).item(), own) for own, kept in released)
    known = hashes([row[0] for row in raw]).tolist()
    return [
        (own, many, [row for row, mark in enumerate(known) if mark == kept])
        for (kept, own), many in sorted(capacity.items())
    ]


@given(tables(), st.integers(1, 40))
def test_groups(table, rows):
    raw, released, _ = table
    found, wanted = counted(raw, released, rows), groups_of(raw, released)
    above = Counter(kept for _, kept in released) - Counter(row[0] for row in raw)
    assert found.more == above.total()
    groups = found.groups()
    assert [
        (own, many, groups.rows[first:last].tolist())
        for own, many, first, last in zip(
            groups.classes.tolist(),
            groups.capacity.tolist(),
            groups.first,
            groups.last,
            strict=True,
        )
    ] == wanted
    ends = np.append(0, np.cumsum(groups.capacity)).tolist()
    listed = [[released[row] for row in groups.released[a:b].tolist()] for a, b in pairwise(ends)]
    assert [[(own, len(rows))] for rows in listed for own in {row[0] for row in rows}] == [
        [(own, many)] for own, many, _ in wanted
    ]
    assert len(counted(raw, released, rows, with_released=False).groups().released) == 0


def most_matched(lists, capacity):
    """The size of a maximum matching of rows to groups, by augmenting paths."""
    rows_of = {group: [] for group in range(len(lists))}

    def placed(row, seen):
        for group in [at for at, rows in enumerate(lists) if row in rows and at not in seen]:
            seen.add(group)
            if len(rows_of[group]) < capacity[group]:
                rows_of[group].append(row)
                return True
            for at, other in enumerate(rows_of[group]):
                if placed(other, seen):
                    rows_of[group][at] = row
                    return True
        return False

    return sum(placed(row, set()) for row in sorted(set().union(*lists)))


@pytest.mark.slow
@given(tables(), st.sampled_from([7, 90, 1000]))
def test_sources(table, rows):
    raw, released, ends = table
    none = np.zeros((CLASSES, 2), np.int32)
    labels = (ends[:, :, 0], ends[:, :, 1], none, none, np.empty(0, np.int64))
    codes = np.array([row[1:] for row in raw], dtype=np.int32).reshape(-1, 2)
    wanted = [
        {r for r in own if all(a <= x <= b for x, (a, b) in zip(codes[r], ends[at], strict=True))}
        for at, _, own in groups_of(raw, released)
    ]
    groups, total = counted(raw, released, 50).groups(), sum(map(len, wanted))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparing, "BLOCK_ROWS", rows)
        found = sources(groups, lambda some: codes[some], labels, ALL, Workers("audit"))
        assert [set(found.rows[a:b].tolist()) for a, b in pairwise(found.ends)] == wanted
        assert found.many.tolist() == [len(each) for each in wanted]
        assert found.uncovered == len(raw) - len(set().union(*wanted))
        matched = most_matched(wanted, groups.capacity.tolist())
        assert unmatched(groups, found) == len(released) - matched
        for most in (total, total - 1):
            patch.setattr(comparing, "MAX_LISTED_PAIRS", most)
            few = sources(groups, lambda some: codes[some], labels, ALL, Workers("audit"))
            assert (few.rows is None) == (total > most)
            assert few.many.tolist() == found.many.tolist()
            assert few.uncovered == found.uncovered
