"""The risk of a journalist and a marketer, from a table of the population."""

from math import fsum
from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql.arrow import first, lists
from anon_sql.columns import is_number
from anon_sql.errors import AnonError, did_you_mean
from anon_sql.measures.call import is_label
from anon_sql.measures.checked import types_of
from anon_sql.measures.readings import Reading, codes_of, labels_of, narrowest
from anon_sql.measures.release import release
from anon_sql.registry import udf
from anon_sql.roles import fold

_NAME = "risk"
_RISK = pa.struct(
    [("journalist", pa.float64()), ("at_risk", pa.int64()), ("marketer", pa.float64())]
)


@udf("__anon_population_risk", "STRUCT(journalist DOUBLE, at_risk BIGINT, marketer DOUBLE)")
def population_risk(
    plan: Any,
    raw_types: Any,
    released_types: Any,
    types: Any,
    population: Any,
    classes: Any,
    trees: Any,
    suppressed: Any,
    threshold: Any,
) -> pa.Array:
    """1 / F for the class where it is highest, the rows above the threshold, and the mean of f / F.

    types: of the population's columns; population, classes: as an audit lists a raw table and its
    release; suppressed: rows that are one class. AnonError where the population lacks a
    quasi-identifier or rows.
    """
    quasi, raw, shown = first(plan)["quasi"], types_of(raw_types), types_of(released_types)
    held = {fold(name): kind for name, kind in types_of(types).items()}
    released = {fold(name): kind for name, kind in shown.items()}
    for name in quasi:
        _require(name, raw[name], held)
    asked = {
        "quasi": quasi,
        "types": [raw[name] for name in quasi],
        "typed": [not is_label(released[fold(name)]) for name in quasi],
        "synthetic": 0,
    }
    given = release(asked, population, classes)
    matches = _matches(given.readings(_NAME, lists(trees)))
    sizes = np.where(given.starred, first(suppressed), given.sizes)
    if (matches < sizes).any():
        raise AnonError(
            _NAME,
            "the population must hold every row of the raw table",
            "fewer rows that a label matches than rows that have it",
            "population names a table of all who could be in the raw table",
        )
    if not given.shown:
        return pa.array([{"journalist": None, "at_risk": 0, "marketer": None}], _RISK)
    risk = 1 / matches
    told = {
        "journalist": float(risk.max()),
        "at_risk": int(given.sizes[risk > first(threshold)].sum()),
        "marketer": fsum(given.sizes * risk) / given.shown,
    }
    return pa.array([told], _RISK)


def _require(name: str, raw: str, held: dict[str, str]) -> None:
    if fold(name) not in held:
        raise AnonError(
            _NAME,
            "the population must have every quasi-identifier",
            f"none called {name}",
            did_you_mean(name, held),
        )
    if is_number(_NAME, name, raw) != is_number(_NAME, name, held[fold(name)]):
        raise AnonError(
            _NAME,
            "the population's columns must have the types of the raw table's",
            f"{name} as {raw} in the raw table and as {held[fold(name)]} in the population",
        )


def _matches(readings: list[Reading]) -> Any:
    """Rows of the population that each class's label matches, rows alike counted once."""
    from anon_sql.kernels.matching_rows import matching_rows

    codes, weights = np.unique(codes_of(readings), axis=0, return_counts=True)
    column = narrowest(codes, readings)
    order = np.argsort(codes[:, column], kind="stable")
    return matching_rows(codes[order], weights[order], column, labels_of(readings))
