"""The parameters that several functions have in common, and how those of columns are read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql.core.labels.types import FORMATS, MEANING
from anon_sql.core.parameters import (
    Choice,
    Columns,
    ColumnWeights,
    Flag,
    RelationOf,
    Secret,
    Whole,
    kind,
    param,
)
from anon_sql.core.roles import fold, named
from anon_sql.errors import COMMENTS, AnonError, Argument, Parameter, Where

_DECLARED = Where(COMMENTS, "the columns declared in comments")


@dataclass(frozen=True)
class ColumnRoles:
    """The roles of columns."""

    quasi: Any = param(
        None,
        Columns(),
        "quasi-identifiers, the columns to generalize",
        null=_DECLARED,
        bound=True,
    )
    sensitive: Any = param(
        None,
        Columns(),
        "columns whose values must not be disclosed",
        null=_DECLARED,
        bound=True,
    )
    identifiers: Any = param(
        None,
        Columns(),
        "columns that identify a person; they are dropped",
        null=_DECLARED,
        bound=True,
    )
    keep: Any = param(
        None,
        Columns(),
        "columns to release unchanged; "
        + Argument("keep", ["*"])
        + " keeps every column that has no other role",
        null=_DECLARED,
        bound=True,
    )
    exclude: Any = param(
        None,
        Columns(),
        "columns to leave out that are not identifiers",
        null=_DECLARED,
        bound=True,
    )


@dataclass(frozen=True)
class EntityColumn:
    """The column that identifies the person."""

    entity: Any = param(
        None,
        Columns(one=True),
        "column that identifies the person; k, l and t then count people instead of rows, and "
        "the column is dropped",
        null="none",
        bound=True,
    )


UNIT, PERSON, ROW = "unit", "person", "row"  # the parameter ``unit`` and its words


def unit_of_protection() -> Any:
    """Return the declaration of ``unit``, which audits and what makes releases have in common."""
    return param(
        PERSON,
        Choice((PERSON, ROW)),
        "what must be protected: 'person', or 'row' if it is right that k counts rows although an "
        "identifier repeats",
    )


@dataclass(frozen=True)
class Output:
    """How a release shows its rows."""

    format: str = param(
        "label",
        Choice(FORMATS),
        MEANING,
    )
    suppressed: str = param(
        "keep",
        Choice(("keep", "drop")),
        "'keep' shows suppressed rows as *; 'drop' leaves them out",
    )


@dataclass(frozen=True)
class Seed:
    """The source of random choices."""

    seed: int = param(42, Whole(0), "seed for random choices")


@dataclass(frozen=True)
class Hierarchies:
    """How values are generalized."""

    hierarchy: Any = param(
        None,
        RelationOf("attribute, value, level and label"),
        "relation that holds generalization hierarchies, with the columns attribute, value, level "
        "and label",
        null="none",
        relation=True,
    )


@dataclass(frozen=True)
class StrataColumns:
    """The columns that are not generalized."""

    strata: Any = param(
        None,
        Columns(),
        "quasi-identifiers that are not generalized; rows with different values are never in one "
        "class",
        null="none",
    )


@dataclass(frozen=True)
class Weights:
    """The weights of columns in the loss."""

    weights: Any = param(
        None,
        ColumnWeights(),
        "importance of each quasi-identifier in the loss, such as "
        + Argument("weights", {"age": 2, "city": 0.5})
        + "; columns left out have weight 1",
        null="none",
    )


@dataclass(frozen=True)
class SeriesState:
    """The series that a release belongs to."""

    series: Any = param(
        None,
        RelationOf("cohort, person and tuple"),
        "state of a series that series_next has made of this table; the release then consists of "
        "its cohorts, the rows of former members included; without a key, that of the series is "
        "'env:ANON_KEY'",
        null="none",
        relation=True,
    )
    key: Any = param(
        None,
        Secret(),
        "secret key, as in anon_pseudonym: random choices depend on it and on the seed, and cannot "
        "be repeated without it",
        null="none",
    )


@dataclass(frozen=True)
class Transparent:
    """How much the classes may disclose about sensitive values."""

    transparent: bool = param(
        False,
        Flag(),
        "true makes classes that tell no more than the constraints allow, even to an attacker who "
        "knows the method and all parameters except the key; no value has a share above 1/l",
    )
    transparent_by: str = param(
        "groups",
        Choice(("groups", "size")),
        "how: 'groups' divides rows into groups whose values can be exchanged; 'size' makes larger "
        "and larger classes without looking at values until all satisfy the constraints, so that "
        "they tell one number, but it bounds no share",
    )


def read_weights(function: str, raw: object, quasi: Sequence[str]) -> dict[str, float]:
    """Return the weight of each quasi-identifier that a call names, in the order of ``quasi``.

    raw: a mapping or pairs of names and numbers; None for none. Raises AnonError for anything
    else, for names that are not quasi-identifiers, for numbers that are negative or not finite, and
    if no quasi-identifier has a weight above 0.
    """
    weight_of = {}
    for name, value in pairs_of(function, "weights", {"age": 2}, raw, quasi):
        number = isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
        if not number or not isfinite(value) or value < 0:
            rule = Parameter("weights") + " must be finite numbers of at least 0"
            raise AnonError(function, rule, f"{kind(value)} for '{name}'")
        weight_of[name] = float(value)
    weights = {name: weight_of[name] for name in quasi if name in weight_of}
    if weights and not any(weight_of.get(name, 1.0) for name in quasi):
        above = "a quasi-identifier must have a weight above 0"
        raise AnonError(function, above, "0 for every one")
    return weights


def pairs_of(
    function: str, parameter: str, example: dict[str, Any], raw: object, quasi: Sequence[str]
) -> list[tuple[str, Any]]:
    """Return the quasi-identifiers that a parameter names, spelled as in the table, with values.

    raw: a mapping or pairs; None for none. Raises AnonError for anything else, and for names that
    are not quasi-identifiers.
    """
    if raw is None:
        return []
    pairs = list(raw.items()) if isinstance(raw, Mapping) else raw
    if not isinstance(pairs, list) or not all(_is_pair(pair) for pair in pairs):
        rule = Parameter(parameter) + " must be a MAP from column names to numbers"
        raise AnonError(function, rule, kind(raw), "write " + Argument(parameter, example))
    columns = {fold(name): name for name in quasi}
    names = named(function, parameter, [name for name, _ in pairs], columns, "quasi-identifiers")
    return list(zip(names or [], (value for _, value in pairs), strict=True))


def _is_pair(pair: Any) -> bool:
    return isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str)


def relative(weights: Mapping[str, float], names: Sequence[str]) -> npt.NDArray[np.float64] | None:
    """Return the weight of each column as a share of the largest, float64[d]; None if all are 1."""
    shares = of_columns(weights, names)
    shares = shares / shares.max(initial=0)
    return None if (shares == 1).all() else shares


def of_columns(weights: Mapping[str, float], names: Sequence[str]) -> npt.NDArray[np.float64]:
    """Return the weight of each column, float64[d]; 1 for those that have none."""
    return np.array([weights.get(name, 1.0) for name in names])


IN_SQL = ("series",)  # parameters of releases that other hosts do not have
