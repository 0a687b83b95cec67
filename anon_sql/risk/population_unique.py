"""Estimate the share of the population that is unique, by three models and a rule of choice."""

import numpy as np
import numpy.typing as npt

from anon_sql.risk.class_sizes import class_sizes
from anon_sql.risk.pitman import pitman
from anon_sql.risk.slide_negative_binomial import slide_negative_binomial
from anon_sql.risk.zayatz import zayatz

SMALL_SAMPLE = 0.1


def population_unique(rows: npt.NDArray[np.int64], population: float) -> dict[str, object]:
    """Return the share by each model, None where it does not fit, and the one that the rule takes.

    rows: int64[m], the sizes of the classes in the sample; population: its rows. The rule is that
    of Dankar et al. 2012: Pitman up to a sampling fraction of .1, above it the smaller one of SNB
    and Zayatz; Zayatz where the others do not fit.
    """
    found = class_sizes(rows, population)
    uniques = {
        "pitman": pitman(found),
        "zayatz": zayatz(found),
        "snb": slide_negative_binomial(found),
    }
    shares = {name: _share(number, found.population) for name, number in uniques.items()}
    offered = ("pitman",) if found.fraction <= SMALL_SAMPLE else ("snb", "zayatz")
    fitting = {name: shares[name] for name in offered if shares[name] is not None}
    chosen = min(fitting or {"zayatz": shares["zayatz"]}, key=lambda name: shares[name] or 0.0)
    return {"population_unique": shares[chosen], "estimator": chosen, **shares}


def _share(number: float | None, population: float) -> float | None:
    return None if number is None else min(number / population, 1.0)
