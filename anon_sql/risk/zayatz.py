"""Estimate the population uniques of a sample by the model of Zayatz (1991)."""

from math import lgamma

import numpy as np

from anon_sql.risk.class_sizes import ClassSizes


def zayatz(found: ClassSizes) -> float:
    """Return the expected number of population uniques.

    The distribution of class sizes in the population is taken from the sample. Bayes' rule with
    the hypergeometric probability that a class has one row in the sample gives the share of sample
    uniques that are population uniques; it is scaled by the sampling fraction.
    """
    unique = found.of_size(1)
    if unique == 0:
        return 0.0
    once = np.array([_once(size, found.rows, found.population) for size in found.sizes])
    share = unique * found.fraction / float((found.counts * once).sum())
    return unique * share / found.fraction


def _once(size: float, rows: float, population: float) -> float:
    """Return the probability that a sample has exactly one row of a class of the population."""
    if population - size < rows - 1:
        return 0.0
    logs = _choose(population - size, rows - 1) - _choose(population, rows)
    return float(size * np.exp(logs))


def _choose(n: float, k: float) -> float:
    """Return the logarithm of a binomial coefficient."""
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
