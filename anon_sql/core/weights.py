"""Read the weights of quasi-identifiers: how much the information loss of each column matters."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql.core.options import kind
from anon_sql.core.roles import fold, named
from anon_sql.errors import AnonError


def read_weights(function: str, given: object, quasi: Sequence[str]) -> dict[str, float]:
    """Return the weight of each quasi-identifier that a call names, in the order of ``quasi``.

    given: a mapping or pairs of names and numbers; None for none. Raises AnonError for anything
    else, for names that are not quasi-identifiers, for numbers that are negative or not finite, and
    if no quasi-identifier has a weight above 0.
    """
    if given is None:
        return {}
    pairs = list(given.items()) if isinstance(given, Mapping) else given
    rule = "weights must be a MAP from column names to numbers"
    if not isinstance(pairs, list) or not all(_is_pair(pair) for pair in pairs):
        raise AnonError(function, rule, kind(given), "write weights := MAP {'age': 2}")
    columns = {fold(name): name for name in quasi}
    what = "quasi-identifiers"
    names = named(function, "weights", [name for name, _ in pairs], columns, what) or []
    found = {}
    for name, (written, value) in zip(names, pairs, strict=True):
        number = isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
        if not number or not isfinite(value) or value < 0:
            rule = "weights must be finite numbers of at least 0"
            raise AnonError(function, rule, f"{kind(value)} for '{written}'")
        found[name] = float(value)
    weights = {name: found[name] for name in quasi if name in found}
    if weights and not any(found.get(name, 1.0) for name in quasi):
        rule, got = "a quasi-identifier must have a weight above 0", "0 for every one"
        raise AnonError(function, rule, got)
    return weights


def _is_pair(pair: Any) -> bool:
    return isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str)


def relative(weights: Mapping[str, float], names: Sequence[str]) -> npt.NDArray[np.float64] | None:
    """Return the weight of each column as a share of the largest, float64[d]; None if all are 1."""
    found = of_columns(weights, names)
    found = found / found.max(initial=0)
    return None if (found == 1).all() else found


def of_columns(weights: Mapping[str, float], names: Sequence[str]) -> npt.NDArray[np.float64]:
    """Return the weight of each column, float64[d]; 1 for those that have none."""
    return np.array([weights.get(name, 1.0) for name in names])
