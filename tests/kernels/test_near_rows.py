"""The rows near a row are those that a sort by distance puts first."""

import numpy as np
import pytest

from anon_sql.kernels import k_member as kernel
from anon_sql.kernels.k_member import NEAR_ROWS, near_in_group, near_rows
from tests.kernels.test_class_state import every_kind

pytestmark = pytest.mark.quick


def twin(columns, weights, sample, near):
    found = []
    for row in range(columns.shape[1]):
        gaps = np.minimum(np.abs(columns[:, sample] - columns[:, [row]]), 1)
        far = (weights[:, None] * gaps).sum(axis=0)
        ranked = [
            at
            for _, _, at in sorted(zip(far, range(len(sample)), sample, strict=True))
            if at != row
        ]
        found.append((ranked + [row] * near)[:near])
    return found


def test_near_rows_are_the_twins():
    rng = np.random.default_rng(1)
    columns = rng.integers(0, 5, (3, 80)).astype(np.float32) / 4  # many ties, no rounding
    weights = np.array([1, 0.5, 0.25], np.float32)
    for sample in (np.arange(80), np.arange(0, 80, 3), np.arange(4)):
        found = near_rows(columns, weights, sample.astype(np.int32), 6)
        assert found.tolist() == twin(columns, weights, sample, 6)


def test_large_groups_are_sampled(monkeypatch):
    points, model = every_kind(500, 2)
    whole = near_in_group(points, model, np.random.default_rng(1))
    few = near_in_group(points, model, np.random.default_rng(1), 60)
    assert len(np.unique(few)) <= 60
    monkeypatch.setattr(kernel, "SAMPLE_ROWS", 50)
    part = near_in_group(points, model, np.random.default_rng(1))
    assert whole.shape == part.shape == (500, NEAR_ROWS)
    assert len(np.unique(part)) <= 50 < len(np.unique(whole))
