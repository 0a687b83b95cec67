"""Cluster by scikit-learn's k-means, one step at a time, to test for Ctrl-C between steps."""

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql.core.interrupt import check
from anon_sql.core.progress import Progress
from anon_sql.errors import not_installed
from anon_sql.methods.parts.standardized import Features

STEPS = 10  # at most; the sum of squares decreases little after the first four


def k_means(function: str, features: Features, count: int, seed: int) -> npt.NDArray[np.int32]:
    """Return the cluster of each row, int32[n], from 0 without gaps, at most ``count`` of them.

    Lloyd's algorithm from random distinct rows, on one thread, since sums of floats depend on the
    number of threads.
    """
    from threadpoolctl import threadpool_limits

    cluster = scikit_learn(function)
    distinct = np.unique(features, axis=0)
    drawn = np.random.default_rng(seed).permutation(len(distinct))[:count]
    centres, clusters = distinct[drawn], np.full(len(features), -1, dtype=np.int32)
    with threadpool_limits(1), warnings.catch_warnings(), Progress(function, STEPS) as progress:
        warnings.simplefilter("ignore")  # that one step does not converge
        progress.note = "k-means"
        for _ in range(STEPS):
            check(function)
            step = cluster.KMeans(len(centres), init=centres, n_init=1, max_iter=1, random_state=0)
            found = step.fit(features).labels_
            progress.advance(1)
            if np.array_equal(found, clusters):
                break
            centres, clusters = step.cluster_centers_, found
    _, dense = np.unique(clusters, return_inverse=True)
    return np.asarray(dense, np.int32).reshape(-1)


def scikit_learn(function: str) -> Any:
    """Return scikit-learn's cluster module. Raises AnonError where it is not installed."""
    try:
        from sklearn import cluster
    except ImportError:
        rule = "k-means needs the extra ml"
        raise not_installed(function, rule, "no package scikit-learn", "ml") from None
    return cluster
