"""Validate the parameters of a call: each kind of option accepts a value or raises AnonError."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from typing import Any, Protocol

from anon_sql.errors import AnonError, did_you_mean


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
            raise AnonError(function, f"{name} must be one of {listed}", got, hint)
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
                f"{name} must be a whole number of at least {self.least}",
                "a BOOLEAN",
                f"write {name} := 7, since {name} = 7 is a comparison",
            )
        if not isinstance(value, int) or value < self.least:
            raise AnonError(
                function, f"{name} must be a whole number of at least {self.least}", kind(value)
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
                function, f"{name} must be a number of at least {self.least:g}{above}", kind(value)
            )
        return float(value)


@dataclass(frozen=True)
class Positive:
    """A finite number above 0."""

    def read(self, function: str, name: str, value: Any) -> float:
        known = isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
        if not known or not isfinite(value) or value <= 0:
            raise AnonError(function, f"{name} must be a number above 0", kind(value))
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
        rule = f"{name} must be a name or a list of names of relations"
        if value is not None and not isinstance(value, (str, list)):
            raise AnonError(function, rule, kind(value))
        if isinstance(value, list) and not all(isinstance(each, str) for each in value or [None]):
            raise AnonError(function, rule, "another list" if value else "an empty list")
        return value


def read(function: str, options: Mapping[str, Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the checked value of every option; ``given`` must contain each of them."""
    return {name: option.read(function, name, given[name]) for name, option in options.items()}
