"""Find the rows nearest to each row of a group, by the loss of a class of the two."""

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss.ncp import NUMBER, SET, TREE, LossModel

NEAR = 12  # rows kept for each row; 40 gain nothing
SAMPLE = 1 << 12  # most rows compared with each row; fewer in very large groups
PAIRS = 1 << 24  # most comparisons in a group


@kernel
def near_rows(columns, weights, sample, near):
    """Return the sampled rows nearest to each row, itself excluded, int32[m, near].

    columns: float32[d, m], weights: float32[d], sample: int32[…]. The distance is the weighted sum
    of min(|a - b|, 1); ties to the first of the sample. Where there are too few, the row itself is
    given.
    """
    d, m = columns.shape
    others = np.empty((d, sample.size), np.float32)
    for c in range(d):
        for at in range(sample.size):
            others[c, at] = columns[c, sample[at]]
    found = np.empty((m, near), np.int32)
    far, keys = np.empty(sample.size, np.float32), np.empty(near, np.float32)
    one = np.float32(1)
    for row in range(m):
        far[:] = np.float32(0)
        for c in range(d):
            value, weight, line = columns[c, row], weights[c], others[c]
            for at in range(sample.size):
                gap = abs(line[at] - value)
                far[at] += weight * (gap if gap < one else one)
        keys[:] = np.inf
        found[row] = row
        for at in range(sample.size):
            if far[at] >= keys[near - 1] or sample[at] == row:
                continue
            i = near - 1
            while i > 0 and keys[i - 1] > far[at]:
                keys[i], found[row, i] = keys[i - 1], found[row, i - 1]
                i -= 1
            keys[i], found[row, i] = far[at], sample[at]
    return found


def near_in_group(
    points: npt.NDArray[np.float64], model: LossModel, rng: np.random.Generator
) -> npt.NDArray[np.int32]:
    """Return the rows near each row of float64[m, d], int32[m, NEAR]."""
    m = len(points)
    columns = np.ascontiguousarray(points.T, dtype=np.float32)
    shared = np.maximum(model.values, 1)
    weights = (model.weight * np.where(model.kind == SET, 2 / shared, 1)).astype(np.float32)
    for c in np.flatnonzero((model.kind == NUMBER) & (model.weight > 0)):
        columns[c] /= model.weight[c]
    for c in np.flatnonzero(model.kind == TREE):
        columns[c] /= max(float(model.null[c]), 1.0)
    most = min(SAMPLE, max(2 * NEAR, PAIRS // m))
    sample = np.arange(m) if m <= most else np.sort(rng.choice(m, most, replace=False))
    return near_rows(columns, weights, sample.astype(np.int32), NEAR)  # type: ignore[no-any-return]
