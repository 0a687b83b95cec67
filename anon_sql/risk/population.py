"""A table of the population, and how many of its rows the labels of a release match."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.columns import is_number
from anon_sql.core.labels.coverage import codes_of, labels_of, ranked
from anon_sql.core.labels.covered_rows import covered_rows
from anon_sql.core.labels.read_coverage import coverage
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, did_you_mean
from anon_sql.measures.pair import Pair

NAME = "risk"
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Population:
    """The population in p groups of alike rows.

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
    _, found, known, _ = covered_rows(codes, population.counts, first, last, classes, labels)
    return found, bool(known.all())


def require_rows(found: Ints, rows: Ints) -> None:
    """Raise AnonError where a label matches fewer rows of the population than have it."""
    if (found < rows).any():
        raise AnonError(
            NAME,
            "the population must hold every row of the raw table",
            "fewer rows that a label matches than rows that have it",
            "population names a table of all who could be in the raw table",
        )


def require_columns(raw: Mapping[str, str], held: Mapping[str, str]) -> None:
    """Raise AnonError unless a population has every quasi-identifier in a similar type.

    raw: SQL types of the quasi-identifiers; held: of the population's columns.
    """
    kinds = {fold(name): kind for name, kind in held.items()}
    for name, kind in raw.items():
        if fold(name) not in kinds:
            raise AnonError(
                NAME,
                "the population must have every quasi-identifier",
                f"none called {name}",
                did_you_mean(name, kinds),
            )
        if is_number(NAME, name, kind) != is_number(NAME, name, kinds[fold(name)]):
            raise AnonError(
                NAME,
                "the population's columns must have the types of the raw table's",
                f"{name} as {kind} in the raw table and as {kinds[fold(name)]} in the population",
            )
