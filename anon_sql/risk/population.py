"""The population, given as a table or estimated from the sample, and the rows that labels match."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.columns import is_number
from anon_sql.core.labels.covering import covered_rows
from anon_sql.core.labels.reading import codes_of, coverage, labels_of, ranked
from anon_sql.core.parameters import (
    Columns,
    Number,
    OrNull,
    Positive,
    RelationOf,
    Whole,
    declare,
    param,
)
from anon_sql.core.roles import fold
from anon_sql.core.running import Workers
from anon_sql.errors import AnonError, Argument, Parameter, did_you_mean, joined
from anon_sql.measures.pair import Pair, PairColumns

NAME = "risk"
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Risk:
    """The parameters of ``risk``."""

    population: Any = param(
        None,
        RelationOf("the quasi-identifiers"),
        "table of all people who could be in the raw table, including those who are, with the "
        "same quasi-identifiers. Its distinct rows are compared with all classes",
        relation=True,
    )
    threshold: float = param(0.2, Number(0, 1), "a row is at risk if its risk exceeds this, 0…1")
    sampling_fraction: float | None = param(
        None,
        OrNull(Positive()),
        "rows of the raw table divided by rows of the population, above 0 and at most 1",
    )
    population_size: int | None = param(None, OrNull(Whole(1)), "rows of the population")
    sampling_weights: Any = param(
        None,
        Columns(one=True),
        "column of the release that holds sampling weights: the number of people in the "
        "population for whom a row stands",
    )


declare(NAME, Risk, PairColumns)


@dataclass(frozen=True)
class Population:
    """The population in p groups of equal rows.

    types: SQL type by quasi-identifier, which holds the values of the raw table too. values: of
    each quasi-identifier an array of p. counts: int64[p], the rows of each group. trees: rows of
    hierarchies by column.
    """

    types: Mapping[str, str]
    values: Mapping[str, pa.Array]
    counts: Ints
    trees: Mapping[str, pa.StructArray]


def matches(population: Population, pair: Pair) -> tuple[Ints, bool]:
    """Return the rows of the population that each class's label matches, int64[m].

    The second result is whether every row is matched by some label.
    """
    columns = [
        ranked(
            coverage(
                NAME,
                name,
                kind,
                population.values[name],
                pair.labels[name],
                population.trees.get(name),
            )
        )
        for name, kind in population.types.items()
    ]
    codes, labels = codes_of(columns), labels_of(columns)
    classes = np.arange(len(labels[0]), dtype=np.int32)
    first, last = np.zeros(len(classes), np.int64), np.full(len(classes), len(codes))
    covered = covered_rows(codes, population.counts, first, last, classes, labels, Workers(NAME))
    return covered.weights, bool(covered.is_covered.all())


def require_rows(population_rows: Ints, rows: Ints) -> None:
    """Raise AnonError if a label matches fewer rows of the population than have it."""
    if (population_rows < rows).any():
        raise AnonError(
            NAME,
            "the population must hold every row of the raw table",
            "a label that matches fewer people in it than rows in the release",
            Parameter("population") + " names a table of all who could be in the raw table",
        )


def require_columns(raw: Mapping[str, str], population: Mapping[str, str]) -> None:
    """Raise AnonError unless a population has every quasi-identifier in a similar type.

    raw: SQL types of the quasi-identifiers; population: of the population's columns.
    """
    kinds = {fold(name): kind for name, kind in population.items()}
    for name, kind in raw.items():
        if fold(name) not in kinds:
            raise AnonError(
                NAME,
                "the population must have every quasi-identifier",
                f"no column called {name}",
                did_you_mean(name, kinds),
            )
        if is_number(NAME, name, kind) != is_number(NAME, name, kinds[fold(name)]):
            raise AnonError(
                NAME,
                "the population's columns must have the types of the raw table's",
                f"{name} as {kind} in the raw table and as {kinds[fold(name)]} in the population",
            )


Floats = npt.NDArray[np.float64]
_ONE_POPULATION = (
    "one of "
    + joined(", ", map(Parameter, ("population", "population_size", "sampling_fraction")))
    + " and "
    + Parameter("sampling_weights")
    + " may be given"
)


@dataclass(frozen=True)
class ClassWeights:
    """The sampling weights of each class of a release.

    total, least: float64[m], their sum and the smallest. counts: int64[m], the number of weights.
    """

    total: Floats
    least: Floats
    counts: npt.NDArray[np.int64]


@dataclass(frozen=True)
class SamplingDesign:
    """The relation of a sample to its population. size: rows of the population. fraction:
    float64[m], the sampling fraction of each class."""

    size: float
    fraction: Floats


def sample(
    rows: int,
    sizes: npt.NDArray[np.int64],
    suppressed: npt.NDArray[np.bool_],
    request: Risk,
    weights: ClassWeights | None,
    *,
    population: bool,
) -> SamplingDesign | None:
    """Return the sampling design that a call implies, None if it implies none.

    rows: of the raw table; sizes: int64[m], rows of each class; suppressed: bool[m], classes of
    suppressed rows, which are one. population: whether a table of it is given. Raises AnonError for
    a population that is smaller than its sample, and for weights that are not positive.
    """
    size_arguments = {
        "sampling_fraction": request.sampling_fraction,
        "population_size": request.population_size,
    }
    names = [name for name, value in size_arguments.items() if value is not None]
    names += ["population"] * population + ["sampling_weights"] * (weights is not None)
    if len(names) > 1:
        raise AnonError(NAME, _ONE_POPULATION, joined(" and ", map(Parameter, names)))
    if weights is not None:
        return _weighted(rows, sizes, suppressed, weights)
    fraction = request.sampling_fraction
    if request.population_size is not None:
        fraction = rows / request.population_size
    if fraction is None:
        return None
    if fraction > 1:
        raise AnonError(
            NAME,
            "the population must have at least the rows of the raw table",
            Argument(names[0], Decimal(f"{size_arguments[names[0]]:g}")),
        )
    return SamplingDesign(rows / fraction, np.full(len(sizes), fraction))


def _weighted(
    rows: int,
    sizes: npt.NDArray[np.int64],
    suppressed: npt.NDArray[np.bool_],
    weights: ClassWeights,
) -> SamplingDesign:
    """Return the design in which each row of the sample represents as many rows as its weight.

    A row that is left out of the release has the mean weight of the suppressed rows, or of all rows
    where none is released.
    """
    if (weights.counts < sizes).any() or not (weights.least > 0).all():
        rule = Parameter("sampling_weights") + " must be positive numbers in every row"
        raise AnonError(NAME, rule)
    total, counted = weights.total.copy(), sizes.copy()
    total[suppressed], counted[suppressed] = total[suppressed].sum(), counted[suppressed].sum()
    fraction = np.minimum(counted / total, 1.0)
    released, left_out = weights.total.sum(), rows - sizes.sum()
    of_left_out = fraction[suppressed][0] if suppressed.any() else sizes.sum() / max(released, 1.0)
    return SamplingDesign(max(released + left_out / max(of_left_out, 1e-12), float(rows)), fraction)
