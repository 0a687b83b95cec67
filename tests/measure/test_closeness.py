"""Distances of classes from the table, beside their definitions."""

import numpy as np
import pyarrow as pa
import pytest

from anon_sql.privacy import t_closeness
from anon_sql.privacy.class_values import class_values, table_values


def made(seed):
    """Random values of 1 to 6 classes, as the functions take them and as shares."""
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(1, 60))
    count = int(rng.integers(1, min(rows, 6) + 1))
    values = rng.integers(0, rng.integers(1, 8), rows)
    classes = np.concatenate([np.arange(count), rng.integers(0, count, rows - count)])
    keys = pa.array([bytes([value]) for value in values], pa.binary())
    once = np.ones(rows, dtype=np.int64)
    ranks = np.unique(values, return_inverse=True)[1].reshape(-1)
    table = np.bincount(ranks) / rows
    own = [np.bincount(ranks[classes == c], minlength=len(table)) for c in range(count)]
    shares = np.array([counts / counts.sum() for counts in own])
    return class_values(classes, keys, once), table_values(keys, once), shares - table


@pytest.mark.parametrize("seed", range(40))
def test_equal(seed):
    values, table, gaps = made(seed)
    expected = np.abs(gaps).sum(axis=1) / 2
    assert t_closeness.equal_distance(values, table) == pytest.approx(expected)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_ordered(seed, wide, monkeypatch):
    """Sums that do not fit into 64 bits are of Python's integers, and the same."""
    values, table, gaps = made(seed)
    if wide:
        monkeypatch.setattr(t_closeness, "_MAX_INT64_SUM", 0)
    expected = np.abs(np.cumsum(gaps, axis=1)).sum(axis=1) / max(gaps.shape[1] - 1, 1)
    assert t_closeness.ordered_distance(values, table) == pytest.approx(expected)
