"""Persons and classes matched by the kernel and by plain loops."""

from collections import Counter

import numpy as np
import pytest

from anon_sql.kernels.person_match import match

pytestmark = pytest.mark.quick

WIDTH = 70  # codes of a column


def test_against_plain_loops():
    draw = np.random.default_rng(3)
    for _ in range(40):
        people, classes, columns = draw.integers(1, 12), draw.integers(0, 8), draw.integers(1, 4)
        values = 5  # 0, 1 and 2 of the first sensitive column, 3 and 4 of the second
        column_of = np.array([0, 0, 0, 1, 1])
        codes = draw.integers(0, WIDTH, (people, columns))
        known = draw.random((people, columns)).argsort(axis=1)[:, : draw.integers(0, columns + 1)]
        alike = draw.integers(0, people, people)  # some persons of whom the same is known
        codes, known = codes[np.sort(alike)], known[np.sort(alike)]
        own = np.stack([draw.integers(-1, 3, people), draw.integers(2, 5, people)], axis=1)
        own[:, 1] = np.where(own[:, 1] == 2, -1, own[:, 1])
        covered, low, high, start, end, flat_codes = {}, [], [], [], [], []
        for m in range(classes):
            low.append([]), high.append([]), start.append([]), end.append([])
            for q in range(columns):
                members = np.flatnonzero(draw.random(WIDTH) < 0.8)
                whole = draw.random() < 0.5
                if whole:
                    members = np.arange(draw.integers(0, 9), draw.integers(0, WIDTH))
                covered[m, q] = set(members.tolist())
                low[m].append(min(members, default=1))
                high[m].append(max(members, default=0))
                start[m].append(len(flat_codes))
                if not whole:
                    flat_codes.extend(members.tolist())
                end[m].append(len(flat_codes))
        shape = (classes, columns)
        held = [
            Counter(draw.integers(0, values, draw.integers(0, 6)).tolist()) for _ in range(classes)
        ]
        sizes = np.array([sum(one.values()) + 1 for one in held], dtype=np.int64)  # and a NULL each
        entries = [(value, count) for one in held for value, count in sorted(one.items())]
        starts = np.cumsum([0, *map(len, held)])
        flat = np.array(entries, dtype=np.int64).reshape(-1, 2)
        found = (np.zeros(people, np.int64), *(np.zeros((people, 2), np.int64) for _ in range(4)))
        match(
            codes,
            np.ascontiguousarray(known),
            own,
            (  # each class has labels of its own
                np.arange(columns * classes).reshape(columns, classes),
                np.arange(columns + 1) * classes,
                *(
                    np.array(each, dtype=np.int64).reshape(shape).T.reshape(-1)
                    for each in (low, high, start, end)
                ),
                np.array(flat_codes, dtype=np.int64),
            ),
            (sizes, starts, flat[:, 0].copy(), flat[:, 1].copy()),
            column_of,
            found,
        )
        for p in range(people):
            hits = [
                m for m in range(classes) if all(codes[p, q] in covered[m, q] for q in known[p])
            ]
            tally = sum((held[m] for m in hits), Counter())
            assert found[0][p] == sum(sizes[m] for m in hits)
            for s in range(2):
                counts = {v: n for v, n in tally.items() if column_of[v] == s}
                most = max(counts.values(), default=0)
                wanted = (
                    len(counts),
                    most,
                    list(counts.values()).count(most),
                    counts.get(own[p, s], 0),
                )
                assert tuple(one[p, s] for one in found[1:]) == wanted
