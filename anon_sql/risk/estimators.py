"""Estimate the number of population uniques from a sample: Pitman, SNB and Zayatz.

The slide negative binomial model (SNB) is that of Chen and McNulty 1998, as in Dankar et al. 2012,
appendix A. A class of the population has 1 + X rows, where X is negative binomial with parameters
alpha and beta. Each row is in the sample with probability p.
"""

from dataclasses import dataclass
from itertools import product
from math import exp, inf, lgamma, log

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ClassSizes:
    """The class sizes of a sample.

    sizes: float64[z], distinct and ascending. counts: float64[z], the number of classes of each
    size. population: rows of the population, a whole number, at least the rows of the sample.
    """

    sizes: Floats
    counts: Floats
    population: float

    @property
    def rows(self) -> float:
        """Return the rows of the sample."""
        return float((self.sizes * self.counts).sum())

    @property
    def classes(self) -> float:
        return float(self.counts.sum())

    @property
    def fraction(self) -> float:
        """Return the sampling fraction."""
        return self.rows / self.population

    def of_size(self, size: int) -> float:
        """Return the number of classes of a size."""
        return float(self.counts[self.sizes == size].sum())


def class_sizes(rows: npt.NDArray[np.int64], population: float) -> ClassSizes:
    """Return the sizes of classes of int64[m] rows."""
    sizes, counts = np.unique(rows, return_counts=True)
    return ClassSizes(sizes.astype(np.float64), counts.astype(np.float64), float(round(population)))


_MAX_STEPS, _TOLERANCE = 100, 1e-10


def pitman(sample: ClassSizes) -> float | None:
    """Return the expected number of population uniques, or None if the model does not fit.

    The parameters of Pitman's sampling formula, theta and alpha, are their maximum likelihood
    estimates, 0 <= alpha < 1 and theta > -alpha; the expected uniques are gamma(theta + 1) /
    gamma(theta + alpha) * N^alpha. There is no maximum if all rows of the sample are unique.
    """
    if sample.of_size(1) == 0:
        return 0.0
    if sample.of_size(1) == sample.rows:
        return None
    estimates = _maximum(sample)
    if estimates is None:
        return None
    theta, alpha = estimates
    expected = exp(lgamma(theta + 1) - lgamma(theta + alpha) + alpha * log(sample.population))
    return expected if expected <= sample.population else None


def _maximum(sample: ClassSizes) -> tuple[float, float] | None:
    """Return theta and alpha of greatest likelihood.

    If the likelihood decreases from its maximum at alpha = 0 on, that is the greatest.
    """
    model = _Likelihood(sample)
    edge = model.of_edge()
    if model.derivatives(np.array([edge, 0.0]))[0][1] <= 0:
        return edge, 0.0
    for start in (_first(sample), (edge / 2, 0.3), (edge / 10, 0.6), (edge / 100, 0.9)):
        if (
            model.allows(parameters := np.array(start))
            and (reached := _climbed(model, parameters)) is not None
        ):
            return reached
    return None


def _first(sample: ClassSizes) -> tuple[float, float]:
    """Return estimates from the numbers of classes of one and of two rows (Hoshino 2001)."""
    n, u, singles = sample.rows, sample.classes, sample.of_size(1)
    c = singles * (singles - 1) / max(sample.of_size(2), 1)
    below = 2 * singles * u + singles * c - n * c
    theta = (n * u * c - singles * (n - 1) * (2 * u + c)) / below if below else inf
    return theta, (theta * (singles - n) + (n - 1) * singles) / (n * u)


def _climbed(model: "_Likelihood", parameters: Floats) -> tuple[float, float] | None:
    """Return the maximum that Newton's method with shortened steps reaches, or None."""
    value = model.value(parameters)
    for _ in range(_MAX_STEPS):
        slope, curve = model.derivatives(parameters)
        if float(np.abs(slope * (1 + np.abs(parameters))).max()) < _TOLERANCE * model.rows:
            return float(parameters[0]), float(parameters[1])
        step, length = _ascent(slope, curve), 1.0
        least = value - _TOLERANCE * abs(value)  # rounding
        while not (
            model.allows(parameters + length * step)
            and model.value(parameters + length * step) >= least
        ):
            length /= 2
            if length < _TOLERANCE:
                return None
        parameters = parameters + length * step
        value = model.value(parameters)
    return None


def _ascent(slope: Floats, curve: Floats) -> Floats:
    """Return Newton's step, or the slope itself if the likelihood is not concave."""
    if curve[0, 0] < 0 and np.linalg.det(curve) > 0:
        return np.asarray(-np.linalg.solve(curve, slope), np.float64)
    return slope / max(float(np.abs(slope).max()), _TOLERANCE) * 0.1


class _Likelihood:
    """Pitman's sampling formula as a function of theta and alpha."""

    def __init__(self, sample: ClassSizes) -> None:
        self.sizes, self.counts = sample.sizes.astype(np.int64), sample.counts
        self.rows, self.classes = sample.rows, sample.classes
        self.before_classes = np.arange(1, sample.classes)  # 1 … u - 1
        self.before_rows = np.arange(1, sample.rows)  # 1 … n - 1
        self.within = np.arange(1, self.sizes.max(), dtype=np.float64)

    def allows(self, parameters: Floats) -> bool:
        return bool(
            np.isfinite(parameters).all()
            and 0 <= parameters[1] < 1
            and parameters[0] > -parameters[1]
        )

    def of_edge(self) -> float:
        """Return theta of greatest likelihood for alpha = 0 (Ewens), by bisection."""
        low, high = 0.0, self.rows
        while self._edge_classes(high) < self.classes:
            low, high = high, 2 * high
        while high - low > _TOLERANCE * high:
            middle = (low + high) / 2
            low, high = (
                (middle, high) if self._edge_classes(middle) < self.classes else (low, middle)
            )
        return high

    def _edge_classes(self, theta: float) -> float:
        """Return the expected number of classes of the sample for alpha = 0."""
        return float(1 + (theta / (theta + self.before_rows)).sum())

    def value(self, parameters: Floats) -> float:
        theta, alpha = parameters
        n, u = self.rows, self.classes
        of_classes = (u - 1) * log(theta)
        if alpha > 0:
            ratio = theta / alpha
            of_classes = (u - 1) * log(alpha) + lgamma(ratio + u) - lgamma(ratio + 1)
        of_rows = lgamma(theta + n) - lgamma(theta + 1)
        return of_classes - of_rows + self._over_classes(np.log(self.within - alpha))

    def derivatives(self, parameters: Floats) -> tuple[Floats, Floats]:
        """Return the first derivatives, float64[2], and the second ones, float64[2, 2]."""
        theta, alpha = parameters
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


_STARTS = list(product((0.1, 1.0, 5.0), (0.5, 0.1, 0.01, 0.9)))  # of alpha and beta


def slide_negative_binomial(sample: ClassSizes) -> float | None:
    """Return the expected number of population uniques, or None if the model does not fit.

    K, the number of classes in the population, is Shlosser's estimate; alpha and beta are those for
    which the sample is expected to have its classes of one and of two rows. The uniques are K *
    beta^alpha.
    """
    singles, pairs = sample.of_size(1), sample.of_size(2)
    if singles == 0:
        return 0.0
    if pairs == 0 or sample.fraction >= 1:
        return None
    classes = shlosser(sample)
    for start in _STARTS:
        solved = _solved(np.array([np.log(start[0]), _logit(start[1])]), sample, classes)
        if solved is not None:
            alpha, beta = solved
            return float(classes * beta**alpha)
    return None


def shlosser(sample: ClassSizes) -> float:
    """Return the estimated number of classes in the population (Haas and Stokes 1998, Sh3)."""
    i, count, p = sample.sizes, sample.counts, sample.fraction
    if p >= 1:
        return sample.classes
    missed = (1 - p) ** i
    first = (i * p**2 * (1 - p**2) ** (i - 1) * count).sum()
    first /= (((1 - p**2) ** i - missed) * count).sum()
    second = (missed * count).sum() / (i * p * (1 - p) ** (i - 1) * count).sum()
    return float(sample.classes + sample.of_size(1) * first * second**2)


def _expected(parameters: Floats, p: float, classes: float) -> Floats:
    """Return the expected classes of one and of two rows in the sample, float64[2].

    They are the first coefficients of the generating function of a class's rows in the sample. at:
    ln alpha and logit beta.
    """
    alpha, beta = np.exp(parameters[0]), 1 / (1 + np.exp(-parameters[1]))
    d = (1 - p) * (1 - beta)
    base = classes * (beta / (1 - d)) ** alpha
    singles = p * base * (1 + alpha * d / (1 - d))
    pairs = p**2 / 2 * base * alpha * (1 - beta) / (1 - d) ** 2 * (2 - (1 - alpha) * d)
    return np.array([singles, pairs])


def _solved(parameters: Floats, sample: ClassSizes, classes: float) -> tuple[float, float] | None:
    """Return alpha and beta by Newton's method with shortened steps on the logarithms, or None."""
    wanted = np.log([sample.of_size(1), sample.of_size(2)])

    def miss(point: Floats) -> Floats:
        with np.errstate(all="ignore"):
            return np.asarray(np.log(_expected(point, sample.fraction, classes)) - wanted)

    gap = miss(parameters)
    for _ in range(_MAX_STEPS):
        if not np.isfinite(gap).all():
            return None
        if np.abs(gap).max() < _TOLERANCE:
            return float(np.exp(parameters[0])), float(1 / (1 + np.exp(-parameters[1])))
        slopes = np.column_stack(
            [(miss(parameters + h) - miss(parameters - h)) / 2e-6 for h in np.eye(2) * 1e-6]
        )
        if not np.isfinite(slopes).all() or abs(np.linalg.det(slopes)) < 1e-14:
            return None
        step, length = -np.linalg.solve(slopes, gap), 1.0
        while length > _TOLERANCE:
            ahead = miss(parameters + length * step)
            if np.isfinite(ahead).all() and np.abs(ahead).max() < np.abs(gap).max():
                break
            length /= 2
        else:
            return None
        parameters, gap = parameters + length * step, ahead
    return None


def _logit(share: float) -> float:
    return float(np.log(share / (1 - share)))


def zayatz(sample: ClassSizes) -> float:
    """Return the expected number of population uniques.

    The distribution of class sizes in the population is taken from the sample. Bayes' rule with
    the hypergeometric probability that a class has one row in the sample gives the share of sample
    uniques that are population uniques; it is scaled by the sampling fraction.
    """
    unique = sample.of_size(1)
    if unique == 0:
        return 0.0
    once = np.array([_once(size, sample.rows, sample.population) for size in sample.sizes])
    share = unique * sample.fraction / float((sample.counts * once).sum())
    return unique * share / sample.fraction


def _once(size: float, rows: float, population: float) -> float:
    """Return the probability that a sample has exactly one row of a class of the population."""
    if population - size < rows - 1:
        return 0.0
    logs = _choose(population - size, rows - 1) - _choose(population, rows)
    return float(size * np.exp(logs))


def _choose(n: float, k: float) -> float:
    """Return the logarithm of a binomial coefficient."""
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


SMALL_SAMPLE = 0.1


def population_unique(rows: npt.NDArray[np.int64], population: float) -> dict[str, object]:
    """Return the share by each model, None if it does not fit, and the share that the rule chooses.

    rows: int64[m], the sizes of the classes in the sample; population: its rows. The rule is that
    of Dankar et al. 2012: Pitman up to a sampling fraction of .1, above it the smaller one of SNB
    and Zayatz; Zayatz if the others do not fit.
    """
    sample = class_sizes(rows, population)
    uniques = {
        "pitman": pitman(sample),
        "zayatz": zayatz(sample),
        "snb": slide_negative_binomial(sample),
    }
    shares = {name: _share(number, sample.population) for name, number in uniques.items()}
    offered = ("pitman",) if sample.fraction <= SMALL_SAMPLE else ("snb", "zayatz")
    fitting = {name: shares[name] for name in offered if shares[name] is not None}
    chosen = min(fitting or {"zayatz": shares["zayatz"]}, key=lambda name: shares[name] or 0.0)
    return {"population_unique": shares[chosen], "estimator": chosen, **shares}


def _share(number: float | None, population: float) -> float | None:
    return None if number is None else min(number / population, 1.0)
