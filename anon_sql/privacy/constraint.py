"""Define the constraints on equivalence classes: k, and the privacy models of a call.

A class is legal if it satisfies all of them. The union of legal classes is legal, as every model is
closed, so merging ends with legal classes. If persons are counted instead of rows, this holds only
for k and for models that are monotone, because a person with rows in two classes counts once in
their union; merging still ends, because ``Constraint.require`` ensures that the whole table is
legal.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from math import ceil
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql import kernels
from anon_sql.errors import AnonError, Argument, Parameter
from anon_sql.privacy import VALUE_MODELS
from anon_sql.privacy.model import ShareModel, Shares, ValueModel, together

_ROUNDING = 1e-9  # subtracted before rounding up


def share_bounds(
    counts: npt.NDArray[np.int64], models: Sequence[ValueModel]
) -> tuple[Shares, Shares]:
    """Return the least and the largest share of each value in a class, float64[b, v] each.

    Without a model that has least shares there are none, float64[b, 0], and without a
    ``ShareModel`` no largest ones.

    counts: int64[b, v], of each value in the table, for b columns.
    models: the privacy models.
    """
    none = np.zeros((len(counts), 0))
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    bounding = [model for model in models if isinstance(model, ShareModel)]
    lower_bounds = [low for model in bounding if (low := model.least(shares)) is not None]
    upper_bounds = [model.most(shares) for model in bounding]
    return (
        np.maximum.reduce(lower_bounds) if lower_bounds else none,
        np.minimum.reduce(upper_bounds) if upper_bounds else none,
    )


def fewest_rows(least: Shares, most: Shares) -> int:
    """Return the least possible number of rows of a class whose shares are within the bounds.

    A class of m rows has a share of at least 1 / m of some value, and of every value if there are
    least shares.
    """
    fewest = 1.0
    for row in range(len(most)):
        bounds = most[row][most[row] > 0]
        if len(bounds):
            has_least = least.shape[1] > 0
            fewest = max(
                fewest, 1 / (bounds.min() if has_least else bounds.max()), has_least * len(bounds)
            )
    return ceil(fewest - _ROUNDING)


def satisfy(models: Sequence[ValueModel]) -> str:
    """Return the requirement on a class as a phrase of error messages: k and the levels of
    models."""
    names = {"k": None, **dict.fromkeys(VALUE_MODELS[0].named_with)}
    for model in models:
        names |= dict.fromkeys(model.named_with)
    return f"satisfy {together(list(names))}"


Codes = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Sensitive:
    """A sensitive column.

    codes: int32[n], 0 to non_null - 1 in ascending order of the values, non_null for NULL.
    non_null: number of values that are not NULL.
    ordered: whether t uses the ordered distance (by rank) instead of the equal distance.
    counts: int64[non_null + 1], rows or persons of each value in the whole table, which t compares
        with; None if these are all of its rows.
    """

    name: str
    codes: Codes
    non_null: int
    ordered: bool
    counts: Counts | None = None


@dataclass(frozen=True)
class Constraint:
    """The constraints that every class must satisfy.

    k: minimum number of rows, or of persons if ``rules.persons``.
    rules: arrays for the models and persons, indexed by the row positions of one table; None if
        only k is required.
    names: the sensitive columns.
    models: those that are required of their values.
    """

    k: int
    rules: "kernels.legality.Rules | None" = None
    names: tuple[str, ...] = ()
    models: tuple[ValueModel, ...] = ()

    @property
    def smallest(self) -> int:
        """Return the least possible number of rows of a legal class."""
        rules = self.rules
        if rules is None:
            return self.k
        return max(self.k, ceil(rules.l), fewest_rows(rules.least, rules.most))

    @property
    def requirement(self) -> str:
        """Return the constraints as a phrase for error messages."""
        if self.rules is None:
            return f"have at least {self.k} rows"
        return satisfy(self.models)

    def require(self, function: str, rows: int, *, part: bool = False) -> None:
        """Raise AnonError if the whole table of ``rows`` rows, taken as one class, is not legal.

        part: whether the rows are a part of the table, which is released by itself.
        """
        if rows < self.k:
            raise AnonError(
                function,
                Parameter("k") + f" must be at most the number of rows, {rows}",
                Argument("k", self.k),
            )
        rules = self.rules
        if rules is None or self.allows(np.arange(rows)):
            return
        if part:
            raise AnonError(
                function,
                f"each part of a table must {self.requirement} as one class",
                "one that does not",
                "nothing was released; please report this",
            )
        raise self.refusal(
            function, int((rules.table_counts[-1] > 0).sum()) if rules.persons else rows
        )

    def refusal(self, function: str, entities: int) -> AnonError:
        """Return the error for a whole table that is not legal, although it has k rows.

        entities: number of persons, or of rows if rows are counted.
        """
        rules = self.rules
        if rules is None or entities < self.k:
            return AnonError(
                function,
                Parameter("k") + f" must be at most the number of entities, {entities}",
                Argument("k", self.k),
            )
        refusals = []
        for model in self.models:
            reached = [
                model.of_table(rules.table_counts[attribute], int(rules.non_null[attribute]))
                for attribute in range(len(self.names))
            ]
            levels = [level for level in reached if level is not None]
            if levels:
                worst = int(np.argmin(levels) if model.at_least else np.argmax(levels))
                error = model.refusal(function, self.names[worst], levels[worst])
                refusals.append((bool(model.fails(np.array(levels)).any()), error))
        errors = [error for is_broken, error in refusals if is_broken] or [
            error for _, error in refusals
        ]
        if errors:
            return errors[0]
        rule = f"the whole table must {self.requirement} as one class"
        return AnonError(function, rule, "one that does not", "nothing was released")

    def with_k(self, k: int) -> "Constraint":
        """Return the same constraint with another k."""
        return replace(self, k=k, rules=self.rules._replace(k=k) if self.rules else None)

    def legal(self, classes: Codes, count: int) -> npt.NDArray[np.bool_]:
        """Return which of ``count`` classes are legal, bool[count].

        classes: int32[n], the class of each row; -1 for a row without a class.
        """
        if self.rules is None:
            sizes = np.bincount(classes[classes >= 0], minlength=count)
            return np.asarray(sizes >= self.k)

        numbered = np.where(classes < 0, np.int32(count), classes).astype(np.int32)
        order, starts = kernels.hashing.group(numbered, count + 1)
        shortfall = kernels.legality.shortfalls(
            self.rules, order[: starts[count]], starts[: count + 1]
        )
        return np.asarray(shortfall == 0)

    def allows(self, rows: npt.NDArray[np.int64]) -> bool:
        """Return whether the rows at positions int64[m] are legal as one class."""
        if len(rows) < self.smallest:
            return False
        if self.rules is None:
            return True

        return bool(kernels.sides.legal_rows(self.rules, rows.astype(np.int32, copy=False)))

    def only(self, kept: npt.NDArray[Any]) -> "Constraint":
        """Return the constraint for some rows, marked bool[n] or listed int64[m], renumbered.

        Models that compare a class with the table still refer to the whole table.
        """
        if self.rules is None:
            return self
        keys = np.ascontiguousarray(self.rules.keys[:, kept])
        return replace(self, rules=self.rules._replace(keys=keys))


def constraint(
    k: int,
    sensitive: Sequence[Sensitive],
    persons: Codes | None,
    models: Sequence[ValueModel] = (),
) -> Constraint:
    """Return the constraint on the classes of a table.

    persons: int32[n], the person of each row, numbered from 0; None to count rows.
    models: those that are not required count for nothing.
    """
    required = tuple(model for model in models if model.required)
    if persons is None and not required:
        return Constraint(k)

    columns = list(sensitive) if required else []
    attributes = [_attribute(column.codes, column.non_null, persons) for column in columns]
    if persons is not None:
        attributes.append(_attribute(persons, int(persons.max(initial=-1)) + 1, None))
    of_table = [column.counts for column in columns]
    counts = [
        of_rows[2] if column_counts is None else column_counts
        for of_rows, column_counts in zip_longest(attributes, of_table)
    ]
    table_counts = _padded(counts, np.int64)
    below = np.cumsum(table_counts, axis=1, dtype=np.float64)
    least, most = share_bounds(_padded(counts[: len(columns)], np.int64), required)
    levels: dict[str, Any] = {}
    for model in (*(kind() for kind in VALUE_MODELS), *required):
        levels |= model.rules
    rules = kernels.legality.Rules(
        k=k,
        **levels,
        keys=np.array([attribute[0] for attribute in attributes]),
        value=_padded([attribute[1] for attribute in attributes], np.int32),
        pairs=persons is not None,
        non_null=np.array(
            [*(column.non_null for column in columns), -1][: len(attributes)], np.int64
        ),
        ordered=np.array(
            [*(column.ordered for column in columns), False][: len(attributes)], np.bool_
        ),
        table_counts=table_counts,
        total=table_counts.sum(axis=1),
        below=below,
        area=np.cumsum(below, axis=1) - below,
        least=least,
        most=most,
        persons=persons is not None,
    )
    return Constraint(k, rules, tuple(column.name for column in columns), required)


class _KeyCounts(NamedTuple):
    """The keys of a column: values, or pairs of a value and a person if persons are counted.

    keys: of each row. value: of each key. counts: the number of keys of each value.
    """

    keys: Codes
    value: Codes
    counts: Counts


def _attribute(codes: Codes, non_null: int, persons: Codes | None) -> _KeyCounts:
    """Return the keys of a column."""
    if persons is None:
        return _KeyCounts(
            codes,
            np.arange(non_null + 1, dtype=np.int32),
            np.bincount(codes, minlength=non_null + 1),
        )
    person_count = int(persons.max(initial=0)) + 1
    pairs, keys = np.unique(codes.astype(np.int64) * person_count + persons, return_inverse=True)
    value = (pairs // person_count).astype(np.int32)
    counts = np.bincount(value, minlength=non_null + 1)
    return _KeyCounts(keys.reshape(-1).astype(np.int32), value, counts)


def _padded(rows: Sequence[npt.NDArray[Any]], kind: type) -> npt.NDArray[Any]:
    """Return rows of different lengths as one two-dimensional array, padded with zeros."""
    table: npt.NDArray[Any] = np.zeros((len(rows), max(map(len, rows), default=0)), kind)
    for i, row in enumerate(rows):
        table[i, : len(row)] = row
    return table
