"""What a privacy model says of itself: what a class must satisfy, and how near it comes.

A model is a frozen dataclass in a file of its own, named as the SQL function that measures it. Its
fields are its parameters; the one of its ``name`` is its level, whose default asks for nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import make_dataclass
from decimal import Decimal
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from anon_sql.core.parameters import Declaration, OrNull, param, parameters_of
from anon_sql.errors import AnonError, Argument, Parameter
from anon_sql.privacy.class_values import ClassValues, Floats, Ints, TableValues

Shares = npt.NDArray[np.float64]
ROUNDING = 1e-9  # levels are sums and quotients of shares


class Model:
    """A requirement on every class.

    name: of the parameter that is its level, and of its row in an audit.
    title, reference: its name in the literature, and where it is defined.
    broken: what follows if a release does not satisfy it, a sentence of a report.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    reference: ClassVar[str]
    broken: ClassVar[str]

    @classmethod
    def parameters(cls) -> Mapping[str, Declaration]:
        """Return its parameters by name."""
        group: type = cls
        return parameters_of(group)


class ValueModel(Model):
    """A requirement on the sensitive values of every class, for each sensitive column by itself.

    named_with: the levels that error messages name together.
    worst: what an audit calls the level of the worst class.
    at_least: whether a class must reach the level, instead of not exceeding it.
    closed: whether the union of two legal classes is legal, if rows are counted.
    compares: whether it compares a class with the whole table, which always satisfies it.
    mixes: whether a legal class may need rows that are far apart, because those that are near have
        other shares of values.
    by_distance: whether it needs the distances of values, see ``Ground``.
    measured: whether an audit has its row even if it is not asked for.
    """

    named_with: ClassVar[tuple[str, ...]]
    worst: ClassVar[str]
    at_least: ClassVar[bool] = False
    closed: ClassVar[bool] = True
    compares: ClassVar[bool] = False
    mixes: ClassVar[bool] = False
    by_distance: ClassVar[bool] = False
    measured: ClassVar[bool] = False

    @classmethod
    def asks(cls, level: Any) -> bool:
        """Return whether a level asks for something; a level that is not a number does not."""
        is_number = isinstance(level, (int, float, Decimal))
        return is_number and bool(level != cls.parameters()[cls.name].default)

    @property
    def level(self) -> Any:
        """Return the level; None if an audit does not measure it."""
        return getattr(self, self.name)

    @property
    def required(self) -> bool:
        """Return whether it asks for something."""
        return self.asks(self.level)

    @property
    def monotone(self) -> bool:
        """Return whether a legal class stays legal whatever rows, of whatever people, join it.

        Only such a model is closed under union if persons are counted: a person with rows in two
        classes counts once in their union.
        """
        return False

    @property
    def same_for_persons(self) -> bool:
        """Return whether a class has the same level if persons are counted instead of rows."""
        return False

    @property
    def remark(self) -> str:
        """Return what an error message adds to a level."""
        return ""

    @property
    def rules(self) -> Mapping[str, Any]:
        """Return the fields of ``kernels.legality.Rules`` that it sets."""
        return {}

    def check(self, function: str) -> None:
        """Raise AnonError for parameters that do not fit together."""

    def measure(self, values: ClassValues, table: TableValues) -> Floats:
        """Return the level that each class reaches, float64[m]."""
        raise NotImplementedError

    def fails(self, reached: Floats) -> npt.NDArray[np.bool_]:
        """Return which of some measured classes do not satisfy it, but for rounding, bool[m].

        A level that is not a number does not satisfy it.
        """
        short = self.level - reached if self.at_least else reached - self.level
        return np.asarray(~(short <= ROUNDING))

    def meaning(self, reached: float, passed: bool) -> str:
        """Return the sentence of an audit about the level of the worst class."""
        reached_text, level = figures(reached, self.level)
        required = (
            f"at least {level} is required" if self.at_least else f"at most {level} is allowed"
        )
        return f"{self.worst} is {reached_text}; {required}."

    def of_table(self, counts: Ints, non_null: int) -> float | None:
        """Return the level that a whole table reaches; None if the table satisfies any level.

        counts: int64[v], of each value, first of those that are not NULL, then of NULL.
        non_null: number of values that are not NULL.
        """
        return None

    def refusal(self, function: str, column: str, reached: float) -> AnonError:
        """Return the error for a whole table that does not satisfy it in a column."""
        side, rounded = ("at most", np.floor) if self.at_least else ("at least", np.ceil)
        return AnonError(
            function,
            Parameter(self.name)
            + f" must be {side} what the whole table has in {column}, "
            + f"{rounded(reached * 1000) / 1000:g}{self.remark}",
            Argument(self.name, Decimal(f"{self.level:g}")),
        )


class ShareModel(ValueModel):
    """A model that bounds the share of each value in a class, and so needs no kernel of its own.

    The share in a union of classes lies between those in the classes: it is closed.
    """

    mixes = True

    def least(self, shares: Shares) -> Shares | None:
        """Return the least share of each value, float64[b, v]; None without such a bound.

        shares: float64[b, v], of each value in the table; 0 for values that it lacks.
        """
        return None

    def most(self, shares: Shares) -> Shares:
        """Return the largest share of each value, float64[b, v]; 0 for those that it lacks."""
        raise NotImplementedError


def figures(number: float, level: float) -> tuple[str, str]:
    """Return two numbers as text, with more digits if few show no difference."""
    for digits in (4, 8, 12):
        texts = _figure(number, digits), _figure(level, digits)
        if texts[0] != texts[1]:
            return texts
    return _figure(number, 4), _figure(level, 4)


def _figure(number: float, digits: int) -> str:
    number = float(number)
    if np.isinf(number):
        return "infinite"
    return f"{number:,.0f}" if number.is_integer() else f"{number:.{digits}g}"


def many(count: int, noun: str) -> str:
    """Return a number with its noun: 1 row, 2,000 rows."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def together(names: Sequence[str]) -> str:
    """Return names as a phrase: a, b and c."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def requirement(model: type[Model]) -> type:
    """Return the parameters of a model as a group of a function that checks; it may ask nothing."""
    fields: list[tuple[str, Any, Any]] = []
    has_values = issubclass(model, ValueModel)
    null_text = "not measured" if has_values else "that it is measured but not required"
    for name, declaration in model.parameters().items():
        if name != model.name:
            fields.append(
                (name, Any, param(declaration.default, declaration.accepts, declaration.says))
            )
            continue
        accepts = (
            declaration.accepts
            if isinstance(declaration.accepts, OrNull)
            else OrNull(declaration.accepts)
        )
        fields.append((name, Any, param(None, accepts, declaration.says, null=null_text)))
    return make_dataclass(f"{model.__name__}Required", fields, frozen=True)
