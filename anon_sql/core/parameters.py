"""Declare each parameter of a call once: its default, accepted values and sentence.

A group of parameters is a frozen dataclass whose fields ``param`` makes. The signature of a SQL
function, its documentation, the options of other hosts and the checked values of a call follow from
the groups that a function takes, which ``declare`` records.
"""

import datetime
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from functools import cache
from math import isfinite
from typing import Any, Protocol, TypeVar

from anon_sql.errors import (
    COMPARISONS,
    SQL,
    AnonError,
    Argument,
    Parameter,
    Spelling,
    Where,
    Words,
    did_you_mean,
)

_DAY = " must be a date, such as 2027-01-31"


class AcceptedValues(Protocol):
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
        is_number = isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
        if not is_number or not isfinite(value) or not self.least <= value <= self.most:
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
        is_number = isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
        if not is_number or not isfinite(value) or value <= 0:
            raise AnonError(function, Parameter(name) + " must be a number above 0", kind(value))
        return float(value)


@dataclass(frozen=True)
class OrNull:
    """NULL, or a value that another option accepts."""

    option: AcceptedValues

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


@dataclass(frozen=True)
class Flag:
    """true or false."""

    def read(self, function: str, name: str, value: Any) -> bool:
        if not isinstance(value, bool):
            raise AnonError(function, f"{name} must be true or false", kind(value))
        return value


def read_day(function: str, name: str | Words, text: str) -> datetime.date:
    """Return the date that an ISO text is. Raises AnonError for another text."""
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise AnonError(function, name + _DAY, "another text") from None


@dataclass(frozen=True)
class Day:
    """A date, as DATE or as text; NULL for none."""

    def read(self, function: str, name: str, value: Any) -> datetime.date | None:
        if isinstance(value, datetime.datetime):
            return value.date()
        if value is None or isinstance(value, datetime.date):
            return value
        if not isinstance(value, str):
            raise AnonError(function, Parameter(name) + _DAY, kind(value))
        return read_day(function, Parameter(name), value)


@dataclass(frozen=True)
class Anything:
    """Any value: another step checks it."""

    def read(self, function: str, name: str, value: Any) -> Any:
        return value


@dataclass(frozen=True)
class Columns(Anything):
    """Names of columns, or of ``one`` column; they are checked later against the table."""

    one: bool = False


@dataclass(frozen=True)
class Secret(Anything):
    """A key, which SQL holds and gives a name, so that no struct of parameters shows it."""


@dataclass(frozen=True)
class ColumnWeights(Anything):
    """Numbers by name of a quasi-identifier, by ``read_weights`` or ``read_bin_widths``."""


@dataclass(frozen=True)
class RelationOf(Anything):
    """The name of a relation, which SQL reads; columns: the required columns, in words."""

    columns: str


Group = TypeVar("Group")


@dataclass(frozen=True)
class Declaration:
    """One declared parameter of a function.

    accepts: checks a value.
    says: the description for users, a sentence without its full stop.
    null: the meaning of NULL, such as 'none'; None if the parameter needs a value.
    note: further sentences of one function.
    bound: whether DuckDB needs the value while it binds a statement, in order to choose columns.
    relation: whether it names a relation, which SQL reads.
    """

    name: str
    default: Any
    accepts: AcceptedValues
    says: str | Words
    null: str | Words | None = None
    note: str | Words = ""
    bound: bool = False
    relation: bool = False

    @property
    def description(self) -> str:
        """Return the description of the parameter for SQL."""
        return self.spelled(SQL)

    def spelled(self, spelling: Spelling) -> str:
        """Return the description of the parameter and of its absence, in the words of a host."""
        none, null = spelling.none, spelling.words(self.null or "")
        means = f"{none} for {null}" if null.startswith("none") else f"{none} means {null}"
        means = f"; {means}" if null else ""
        note = spelling.words(self.note)
        return f"{spelling.words(self.says)}{means}." + (f" {note}" if note else "")

    def read(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """Return the checked value of a call, or raise AnonError; the default if it has none."""
        return self.accepts.read(function, self.name, arguments.get(self.name, self.default))


def param(
    default: Any,
    accepts: AcceptedValues,
    says: str | Words,
    *,
    null: str | Words | None = None,
    bound: bool = False,
    relation: bool = False,
) -> Any:
    """Return a field of a group: one parameter; see ``Declaration``."""
    metadata = {"accepts": accepts, "says": says, "null": null, "bound": bound}
    metadata["relation"] = relation
    return field(default=default, metadata=metadata, kw_only=True)


@cache
def parameters_of(group: type) -> Mapping[str, Declaration]:
    """Return the parameters of a group by name, in the order of its declaration."""
    declared = [declared_field for declared_field in fields(group) if declared_field.metadata]
    return {
        declared_field.name: Declaration(
            declared_field.name, declared_field.default, **declared_field.metadata
        )
        for declared_field in declared
    }


def read_group(group: type[Group], function: str, arguments: Mapping[str, Any]) -> Group:
    """Return a group of checked values; a parameter that ``arguments`` lacks has its default."""
    declarations: Mapping[str, Declaration] = parameters_of(group)  # type: ignore[arg-type]
    return group(**{name: declarations[name].read(function, arguments) for name in declarations})


@dataclass(frozen=True)
class Function:
    """The parameters of a function.

    groups: of parameters.
    of: the function whose parameters it takes besides, None for none.
    only, without: parameters of these that it has, None for all, or lacks, by name or group.
    defaults, notes: of those that differ, by name.
    adds: columns of the result that the table must not have.
    """

    groups: tuple[type, ...]
    of: str | None = None
    only: tuple[str, ...] | None = None
    without: tuple[str | type, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    notes: Mapping[str, str | Words] = field(default_factory=dict)
    adds: tuple[str, ...] = ()


_functions: dict[str, Function] = {}


def declare(
    name: str,
    *groups: type,
    of: str | None = None,
    only: tuple[str, ...] | None = None,
    without: tuple[str | type, ...] = (),
    defaults: Mapping[str, Any] | None = None,
    notes: Mapping[str, str | Words] | None = None,
    adds: tuple[str, ...] = (),
) -> None:
    """Record the parameters of a SQL function; see ``Function``."""
    _functions[name] = Function(groups, of, only, without, defaults or {}, notes or {}, adds)
    takes.cache_clear()


def declared() -> tuple[str, ...]:
    """Return the names of the functions that were declared so far."""
    return tuple(_functions)


def function_of(name: str) -> Function:
    """Return the declaration of a function."""
    return _functions[name]


def own_group(name: str, common: Sequence[type]) -> type:
    """Return the group of a function's own parameters, beside the common ones."""
    function = _functions[name]
    own_groups = [group for group in function.groups if group not in common]
    if own_groups:
        return own_groups[-1]
    return own_group(function.of, common) if function.of else NoOptions


@cache
def takes(name: str) -> Mapping[str, Declaration]:
    """Return the parameters of a declared function by name."""
    function = _functions[name]
    declarations = dict(takes(function.of)) if function.of else {}
    for group in function.groups:
        declarations.update(parameters_of(group))
    missing = {
        name
        for name_or_group in function.without
        for name in (
            [name_or_group] if isinstance(name_or_group, str) else parameters_of(name_or_group)
        )
    }
    return {
        declaration.name: replace(
            declaration,
            default=function.defaults.get(declaration.name, declaration.default),
            note=function.notes.get(declaration.name, declaration.note),
        )
        for declaration in declarations.values()
        if declaration.name not in missing
        and (function.only is None or declaration.name in function.only)
    }


@dataclass(frozen=True)
class NoOptions:
    """No parameters of a function's own."""


_SYNONYMS = {
    "quasi_identifiers": "quasi",
    "qids": "quasi",
    "qi": "quasi",
    "identifier": "identifiers",
    "table": "tbl",
}


def no_parameter(name: str, names: Collection[str]) -> str:
    """Return the error for an unknown parameter."""
    meant = _SYNONYMS.get(name.lower())
    hint = f"did you mean {meant}?" if meant in names else did_you_mean(name, names)
    return f"it has no parameter {name}; {hint}"
