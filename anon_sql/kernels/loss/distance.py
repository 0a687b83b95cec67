"""Compute distances between rows as comparable integers, and random numbers for tree nodes.

A point holds numeric columns scaled to [0, weight], NULL as 3.0, and categories as whole codes. The
difference in any column is then min(|a - b|, weight): the scaled distance between two numbers, the
weight between two categories and between NULL and a number. A weight is 1 or less.
"""

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.kernel import kernel

METRICS = ("gower", "euclid")
GOWER, EUCLID = 0, 1

UNIT = 1e9  # a key counts billionths: distances are rounded before anything compares them

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


@kernel
def key(points, i, j, measure):
    """Return the distance between rows i and j of float64[n, d], in units of 1e-9, as int64.

    measure: the metric and the weights, float64[d].

    Gower (1971): the mean difference over the columns. Euclid: the root of the sum of squares.
    """
    metric, weight = measure
    columns = points.shape[1]
    total = 0.0
    if metric == EUCLID:
        for c in range(columns):
            difference = min(abs(points[i, c] - points[j, c]), weight[c])
            total += difference * difference
        return np.int64(np.rint(np.sqrt(total) * UNIT))
    for c in range(columns):
        total += min(abs(points[i, c] - points[j, c]), weight[c])
    return np.int64(np.rint(total / max(columns, 1) * UNIT))


@kernel
def keys_to(points, rows, v, measure, out):
    """Write the key from row v to each row in rows[m] into out, int64[m]."""
    for at in range(rows.size):
        out[at] = key(points, rows[at], v, measure)


@kernel
def draw(seed, at):
    """Return the at-th random number of the stream of a seed (splitmix64), both uint64.

    A number of a stream may seed another stream, so that each node of a tree has its own,
    independent of the thread that computes it.
    """
    z = np.uint64(seed) + np.uint64(at) * _GAMMA
    z = (z ^ (z >> np.uint64(30))) * _MIX_1
    z = (z ^ (z >> np.uint64(27))) * _MIX_2
    return z ^ (z >> np.uint64(31))


@kernel
def draw_below(seed, at, bound):
    """Return a random position in 0 … bound - 1, int64."""
    return np.int64(draw(seed, at) % np.uint64(bound))


def measure_of(
    metric: str, columns: int, weights: npt.NDArray[np.float64] | None
) -> tuple[int, npt.NDArray[np.float64]]:
    """Return the metric and the weights for ``key``; weights: float64[d], None for 1 each."""
    return METRICS.index(metric), np.ones(columns) if weights is None else weights
