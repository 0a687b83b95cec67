"""The parameters of ``compare``: methods, several k, and options of each method."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from typing import Any

from anon_sql import methods
from anon_sql.core import options
from anon_sql.core.options import Whole, kind
from anon_sql.core.roles import fold
from anon_sql.core.withdrawn import refuse_withdrawn
from anon_sql.errors import AnonError, did_you_mean


def size(function: str, k: Any, name: str = "k") -> int:
    """Return k as a whole number of at least 1; a list of 5 and 2.5 holds both as decimals.

    name: of the parameter.

    Raises AnonError for any other value.
    """
    number = isinstance(k, (float, Decimal)) and isfinite(k) and int(k) == k
    return Whole(1).read(function, name, int(k) if number else k)


@dataclass(frozen=True)
class Methods:
    """NULL, or one or several names of release methods; read as a tuple of names, NULL as None."""

    def read(self, function: str, name: str, value: Any) -> tuple[str, ...] | None:
        if value is None:
            return None
        listed = value if isinstance(value, list) else [value]
        if not listed:
            raise AnonError(function, f"{name} must name a method", "none")
        return tuple(dict.fromkeys(_method(function, name, given) for given in listed))


@dataclass(frozen=True)
class OneMethod:
    """The name of one release method."""

    def read(self, function: str, name: str, value: Any) -> str:
        return _method(function, name, value)


@dataclass(frozen=True)
class Sizes:
    """A list of values, read without repeats; a value that is no k is an error in its row."""

    def read(self, function: str, name: str, value: Any) -> tuple[Any, ...]:
        listed = value if isinstance(value, list) else [value]
        if value is None or not listed:
            raise AnonError(
                function, f"{name} must be whole numbers", "NULL" if value is None else "none"
            )
        return tuple(k for at, k in enumerate(listed) if k not in listed[:at])


@dataclass(frozen=True)
class Settings:
    """NULL, or a struct of options by method; read as all options of every method.

    defaults: of a method by its name, the options where a call leaves them out.
    """

    defaults: Callable[[str], Mapping[str, Any]]

    def read(self, function: str, name: str, value: Any) -> dict[str, dict[str, Any]]:
        if value is not None and not isinstance(value, dict):
            raise AnonError(
                function,
                f"{name} must be a struct of structs",
                kind(value),
                f"write {name} := {{'rayden': {{'cut': 'aligned'}}}}",
            )
        given = {_method(function, name, key): chosen for key, chosen in (value or {}).items()}
        return {
            method: _options(function, method, self.defaults(method), given.get(method))
            for method in methods.releases()
        }


def _method(function: str, parameter: str, given: Any) -> str:
    known = methods.releases()
    if isinstance(given, str) and fold(given) in known:
        return fold(given)
    text = isinstance(given, str)
    raise AnonError(
        function,
        f"{parameter} must name release methods",
        f"'{given}'" if text else kind(given),
        did_you_mean(given, known) if text else "anon_methods() lists them",
    )


def _options(
    function: str, method: str, defaults: Mapping[str, Any], chosen: Any
) -> dict[str, Any]:
    if chosen is not None and not isinstance(chosen, dict):
        raise AnonError(function, f"options of {method} must be a struct", kind(chosen))
    refuse_withdrawn(function, chosen or {})
    known = methods.find(method).options
    for name in chosen or {}:
        if name not in known:
            hint = did_you_mean(name, known) if known else f"{method} has none of its own"
            raise AnonError(
                function, f"options must name parameters of {method}", f"'{name}'", hint
            )
    return options.read(function, known, {**defaults, **(chosen or {})})
