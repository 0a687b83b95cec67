"""Estimate the population uniques of a sample by the slide negative binomial model (SNB).

Source: Chen and McNulty 1998, as in Dankar et al. 2012, appendix A. A class of the population has
1 + X rows, X negative binomial with parameters alpha and beta, and each row is in the sample with
probability p.
"""

from itertools import product

import numpy as np
import numpy.typing as npt

from anon_sql.risk.class_sizes import ClassSizes

Floats = npt.NDArray[np.float64]
_STARTS = list(product((0.1, 1.0, 5.0), (0.5, 0.1, 0.01, 0.9)))  # of alpha and beta
_STEPS, _SMALL = 100, 1e-10


def slide_negative_binomial(found: ClassSizes) -> float | None:
    """Return the expected number of population uniques, or None where the model does not fit.

    K, the number of classes in the population, is Shlosser's estimate; alpha and beta are those for
    which the sample is expected to have its classes of one and of two rows. The uniques are K *
    beta^alpha.
    """
    one, two = found.of_size(1), found.of_size(2)
    if one == 0:
        return 0.0
    if two == 0 or found.fraction >= 1:
        return None
    classes = shlosser(found)
    for start in _STARTS:
        solved = _solved(np.array([np.log(start[0]), _logit(start[1])]), found, classes)
        if solved is not None:
            alpha, beta = solved
            return float(classes * beta**alpha)
    return None


def shlosser(found: ClassSizes) -> float:
    """Return the estimated number of classes in the population (Haas and Stokes 1998, Sh3)."""
    i, count, p = found.sizes, found.counts, found.fraction
    if p >= 1:
        return found.classes
    gone = (1 - p) ** i
    first = (i * p**2 * (1 - p**2) ** (i - 1) * count).sum()
    first /= (((1 - p**2) ** i - gone) * count).sum()
    second = (gone * count).sum() / (i * p * (1 - p) ** (i - 1) * count).sum()
    return float(found.classes + found.of_size(1) * first * second**2)


def _expected(at: Floats, p: float, classes: float) -> Floats:
    """Return the expected classes of one and of two rows in the sample, float64[2].

    They are the first coefficients of the generating function of a class's rows in the sample. at:
    ln alpha and logit beta.
    """
    alpha, beta = np.exp(at[0]), 1 / (1 + np.exp(-at[1]))
    d = (1 - p) * (1 - beta)
    base = classes * (beta / (1 - d)) ** alpha
    one = p * base * (1 + alpha * d / (1 - d))
    two = p**2 / 2 * base * alpha * (1 - beta) / (1 - d) ** 2 * (2 - (1 - alpha) * d)
    return np.array([one, two])


def _solved(at: Floats, found: ClassSizes, classes: float) -> tuple[float, float] | None:
    """Return alpha and beta by Newton's method with shortened steps on the logarithms, or None."""
    wanted = np.log([found.of_size(1), found.of_size(2)])

    def miss(point: Floats) -> Floats:
        with np.errstate(all="ignore"):
            return np.asarray(np.log(_expected(point, found.fraction, classes)) - wanted)

    gap = miss(at)
    for _ in range(_STEPS):
        if not np.isfinite(gap).all():
            return None
        if np.abs(gap).max() < _SMALL:
            return float(np.exp(at[0])), float(1 / (1 + np.exp(-at[1])))
        slopes = np.column_stack([(miss(at + h) - miss(at - h)) / 2e-6 for h in np.eye(2) * 1e-6])
        if not np.isfinite(slopes).all() or abs(np.linalg.det(slopes)) < 1e-14:
            return None
        step, length = -np.linalg.solve(slopes, gap), 1.0
        while length > _SMALL:
            ahead = miss(at + length * step)
            if np.isfinite(ahead).all() and np.abs(ahead).max() < np.abs(gap).max():
                break
            length /= 2
        else:
            return None
        at, gap = at + length * step, ahead
    return None


def _logit(share: float) -> float:
    return float(np.log(share / (1 - share)))
