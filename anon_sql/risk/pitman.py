"""Estimate the population uniques of a sample by Pitman's model (Hoshino 2001)."""

from math import exp, inf, lgamma, log

import numpy as np
import numpy.typing as npt

from anon_sql.risk.class_sizes import ClassSizes

Floats = npt.NDArray[np.float64]
_STEPS, _SMALL = 100, 1e-10


def pitman(found: ClassSizes) -> float | None:
    """Return the expected number of population uniques, or None where the model does not fit.

    The parameters of Pitman's sampling formula, theta and alpha, are their maximum likelihood
    estimates, 0 <= alpha < 1 and theta > -alpha; the expected uniques are gamma(theta + 1) /
    gamma(theta + alpha) * N^alpha. There is no maximum if all rows of the sample are unique.
    """
    if found.of_size(1) == 0:
        return 0.0
    if found.of_size(1) == found.rows:
        return None
    estimates = _maximum(found)
    if estimates is None:
        return None
    theta, alpha = estimates
    expected = exp(lgamma(theta + 1) - lgamma(theta + alpha) + alpha * log(found.population))
    return expected if expected <= found.population else None


def _maximum(found: ClassSizes) -> tuple[float, float] | None:
    """Return theta and alpha of greatest likelihood.

    If the likelihood decreases from its maximum at alpha = 0 on, that is the greatest.
    """
    model = _Likelihood(found)
    edge = model.of_edge()
    if model.derivatives(np.array([edge, 0.0]))[0][1] <= 0:
        return edge, 0.0
    for start in (_first(found), (edge / 2, 0.3), (edge / 10, 0.6), (edge / 100, 0.9)):
        if model.allows(at := np.array(start)) and (reached := _climbed(model, at)) is not None:
            return reached
    return None


def _first(found: ClassSizes) -> tuple[float, float]:
    """Return estimates from the numbers of classes of one and of two rows (Hoshino 2001)."""
    n, u, one = found.rows, found.classes, found.of_size(1)
    c = one * (one - 1) / max(found.of_size(2), 1)
    below = 2 * one * u + one * c - n * c
    theta = (n * u * c - one * (n - 1) * (2 * u + c)) / below if below else inf
    return theta, (theta * (one - n) + (n - 1) * one) / (n * u)


def _climbed(model: "_Likelihood", at: Floats) -> tuple[float, float] | None:
    """Return the maximum that Newton's method with shortened steps reaches, or None."""
    value = model.value(at)
    for _ in range(_STEPS):
        slope, curve = model.derivatives(at)
        if float(np.abs(slope * (1 + np.abs(at))).max()) < _SMALL * model.rows:
            return float(at[0]), float(at[1])
        step, length = _ascent(slope, curve), 1.0
        least = value - _SMALL * abs(value)  # rounding
        while not (model.allows(at + length * step) and model.value(at + length * step) >= least):
            length /= 2
            if length < _SMALL:
                return None
        at = at + length * step
        value = model.value(at)
    return None


def _ascent(slope: Floats, curve: Floats) -> Floats:
    """Return Newton's step, or the slope itself where the likelihood is not concave."""
    if curve[0, 0] < 0 and np.linalg.det(curve) > 0:
        return np.asarray(-np.linalg.solve(curve, slope), np.float64)
    return slope / max(float(np.abs(slope).max()), _SMALL) * 0.1


class _Likelihood:
    """Pitman's sampling formula as a function of theta and alpha."""

    def __init__(self, found: ClassSizes) -> None:
        self.sizes, self.counts = found.sizes.astype(np.int64), found.counts
        self.rows, self.classes = found.rows, found.classes
        self.before_classes = np.arange(1, found.classes)  # 1 … u - 1
        self.before_rows = np.arange(1, found.rows)  # 1 … n - 1
        self.within = np.arange(1, self.sizes.max(), dtype=np.float64)

    def allows(self, at: Floats) -> bool:
        return bool(np.isfinite(at).all() and 0 <= at[1] < 1 and at[0] > -at[1])

    def of_edge(self) -> float:
        """Return theta of greatest likelihood for alpha = 0 (Ewens), by bisection."""
        low, high = 0.0, self.rows
        while self._edge_classes(high) < self.classes:
            low, high = high, 2 * high
        while high - low > _SMALL * high:
            middle = (low + high) / 2
            low, high = (
                (middle, high) if self._edge_classes(middle) < self.classes else (low, middle)
            )
        return high

    def _edge_classes(self, theta: float) -> float:
        """Return the expected number of classes of the sample for alpha = 0."""
        return float(1 + (theta / (theta + self.before_rows)).sum())

    def value(self, at: Floats) -> float:
        theta, alpha = at
        n, u = self.rows, self.classes
        of_classes = (u - 1) * log(theta)
        if alpha > 0:
            each = theta / alpha
            of_classes = (u - 1) * log(alpha) + lgamma(each + u) - lgamma(each + 1)
        of_rows = lgamma(theta + n) - lgamma(theta + 1)
        return of_classes - of_rows + self._over_classes(np.log(self.within - alpha))

    def derivatives(self, at: Floats) -> tuple[Floats, Floats]:
        """Return the first derivatives, float64[2], and the second ones, float64[2, 2]."""
        theta, alpha = at
        i = self.before_classes
        of_classes, of_rows = 1 / (theta + alpha * i), 1 / (theta + self.before_rows)
        of_sizes = 1 / (self.within - alpha)
        slope = [
            of_classes.sum() - of_rows.sum(),
            (i * of_classes).sum() - self._over_classes(of_sizes),
        ]
        mixed = -(i * of_classes**2).sum()
        curve = [
            [(of_rows**2).sum() - (of_classes**2).sum(), mixed],
            [mixed, -((i * of_classes) ** 2).sum() - self._over_classes(of_sizes**2)],
        ]
        return np.array(slope), np.array(curve)

    def _over_classes(self, terms: Floats) -> float:
        """Return the sum over all classes of the first size - 1 terms."""
        sums = np.append(0.0, np.cumsum(terms))
        return float((self.counts * sums[self.sizes - 1]).sum())
