"""Validate the parameters of a call: each accepts a value or raises AnonError."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from anon_sql.core.roles import fold, named
from anon_sql.errors import COMPARISONS, AnonError, Argument, Parameter, Where, did_you_mean


class Option(Protocol):
    """The accepted values of one parameter."""

    def read(self, function: str, name: str, value: Any) -> Any:
        """Return the value as a Python object, or raise AnonError."""


def kind(value: Any) -> str:
    """Describe a value for an error message: its SQL type, or the number itself; never a text."""
    names = {bool: "a BOOLEAN", str: "a VARCHAR", list: "a list", dict: "a STRUCT"}
    if value is None:
        return "NULL"
    return names.get(type(value), str(value))


@dataclass(frozen=True)
class Choice:
    """One of several keywords."""

    words: tuple[str, ...]

    def read(self, function: str, name: str, value: Any) -> str:
        if value not in self.words:
            got = f"'{value}'" if isinstance(value, str) else kind(value)
            listed = ", ".join(f"'{word}'" for word in self.words)
            hint = did_you_mean(value, self.words) if isinstance(value, str) else None
            raise AnonError(function, Parameter(name) + f" must be one of {listed}", got, hint)
        return str(value)


@dataclass(frozen=True)
class Whole:
    """An integer of at least ``least``.

    A BOOLEAN is refused: it is what SQL evaluates ``k = 7`` to, written instead of ``k := 7``.
    """

    least: int

    def read(self, function: str, name: str, value: Any) -> int:
        if isinstance(value, bool):
            raise AnonError(
                function,
                Parameter(name) + f" must be a whole number of at least {self.least}",
                "a BOOLEAN",
                Where(
                    COMPARISONS,
                    "write " + Argument(name, 7) + f", since {name} = 7 is a comparison",
                ),
            )
        if not isinstance(value, int) or value < self.least:
            raise AnonError(
                function,
                Parameter(name) + f" must be a whole number of at least {self.least}",
                kind(value),
            )
        return value


@dataclass(frozen=True)
class Number:
    """A finite number from ``least`` to ``most``, both inclusive."""

    least: float
    most: float = float("inf")

    def read(self, function: str, name: str, value: Any) -> float:
        known = isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
        if not known or not isfinite(value) or not self.least <= value <= self.most:
            above = "" if self.most == float("inf") else f" and at most {self.most:g}"
            raise AnonError(
                function,
                Parameter(name) + f" must be a number of at least {self.least:g}{above}",
                kind(value),
            )
        return float(value)


@dataclass(frozen=True)
class Positive:
    """A finite number above 0."""

    def read(self, function: str, name: str, value: Any) -> float:
        known = isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
        if not known or not isfinite(value) or value <= 0:
            raise AnonError(function, Parameter(name) + " must be a number above 0", kind(value))
        return float(value)


@dataclass(frozen=True)
class OrNull:
    """NULL, or a value that another option accepts."""

    option: Option

    def read(self, function: str, name: str, value: Any) -> Any:
        return None if value is None else self.option.read(function, name, value)


@dataclass(frozen=True)
class Relations:
    """A name or a list of names of relations; NULL for none."""

    def read(self, function: str, name: str, value: Any) -> Any:
        rule = Parameter(name) + " must be a name or a list of names of relations"
        if value is not None and not isinstance(value, (str, list)):
            raise AnonError(function, rule, kind(value))
        if isinstance(value, list) and not all(isinstance(each, str) for each in value or [None]):
            raise AnonError(function, rule, "another list" if value else "an empty list")
        return value


def read(function: str, options: Mapping[str, Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the checked value of every option; ``given`` must contain each of them."""
    return {name: option.read(function, name, given[name]) for name, option in options.items()}


def read_weights(function: str, given: object, quasi: Sequence[str]) -> dict[str, float]:
    """Return the weight of each quasi-identifier that a call names, in the order of ``quasi``.

    given: a mapping or pairs of names and numbers; None for none. Raises AnonError for anything
    else, for names that are not quasi-identifiers, for numbers that are negative or not finite, and
    if no quasi-identifier has a weight above 0.
    """
    if given is None:
        return {}
    pairs = list(given.items()) if isinstance(given, Mapping) else given
    rule = Parameter("weights") + " must be a MAP from column names to numbers"
    if not isinstance(pairs, list) or not all(_is_pair(pair) for pair in pairs):
        raise AnonError(function, rule, kind(given), "write " + Argument("weights", {"age": 2}))
    columns = {fold(name): name for name in quasi}
    what = "quasi-identifiers"
    names = named(function, "weights", [name for name, _ in pairs], columns, what) or []
    found = {}
    for name, (written, value) in zip(names, pairs, strict=True):
        number = isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
        if not number or not isfinite(value) or value < 0:
            rule = Parameter("weights") + " must be finite numbers of at least 0"
            raise AnonError(function, rule, f"{kind(value)} for '{written}'")
        found[name] = float(value)
    weights = {name: found[name] for name in quasi if name in found}
    if weights and not any(found.get(name, 1.0) for name in quasi):
        above = "a quasi-identifier must have a weight above 0"
        raise AnonError(function, above, "0 for every one")
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


WITHDRAWN = ("invariant", "previous", "counterfeits")


def refuse_withdrawn(function: str, given: Mapping[str, Any]) -> None:
    """Raise AnonError if a withdrawn parameter is given; NULL, false and 0 ask for nothing.

    given: parameters by name.
    """
    asked = [name for name in WITHDRAWN if given.get(name) not in (None, False)]
    if asked:
        raise AnonError(
            function,
            "invariant, previous and counterfeits of release functions are withdrawn, since "
            "releases made with them disclose sensitive values together",
            " and ".join(asked),
            "release newcomers only, whom ledger_new selects (docs/releasing-again.md)",
        )
