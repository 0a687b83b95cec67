"""May these rows be a class? The union of legal classes is legal, so merging mends every class.

With persons that holds of k and of distinct values alone, since a person whose rows stand in two
classes counts once in their union; the whole table is legal then too, so merging still ends.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from anon_sql.errors import AnonError

if TYPE_CHECKING:
    from anon_sql.kernels.bags import Rules

KINDS = ("distinct", "entropy", "recursive")
Codes = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Sensitive:
    """A sensitive column: codes int32[n], ``known`` values as they sort, then NULL. ordered: t
    counts ranks, since the values' order means something."""

    name: str
    codes: Codes
    known: int
    ordered: bool


@dataclass(frozen=True)
class Constraint:
    """k: rows of a class at least, persons where rules have them. rules: what else is asked of the
    rows of one table, by position; None where nothing is. names: the sensitive columns."""

    k: int
    rules: "Rules | None" = None
    names: tuple[str, ...] = ()

    @property
    def smallest(self) -> int:
        """Rows that any legal class has at least: what a method cuts for, before classes merge."""
        return self.k if self.rules is None else max(self.k, ceil(self.rules.l))

    @property
    def promise(self) -> str:
        """What every class must do, for errors."""
        return "satisfy k, l and t" if self.rules else f"have at least {self.k} rows"

    def require(self, function: str, rows: int) -> None:
        """Raise AnonError where not even the whole table would be a legal class."""
        if rows < self.k:
            raise AnonError(
                function, f"k must be at most the number of rows, {rows}", f"k := {self.k}"
            )
        rules = self.rules
        if rules is None or self.allows(np.arange(rows)):
            return
        entities = int((rules.held[-1] > 0).sum()) if rules.persons else rows
        if entities < self.k:
            raise AnonError(
                function,
                f"k must be at most the number of entities, {entities}",
                f"k := {self.k}",
            )
        best = [diversity(rules, bag) for bag in range(len(self.names))]
        worst = int(np.argmin(best))
        raise AnonError(
            function,
            f"l must be at most what the whole table has in {self.names[worst]}, "
            f"{_rounded_down(best[worst])} ({KINDS[rules.kind]})",
            f"l := {rules.l:g}",
        )

    def at(self, k: int) -> "Constraint":
        """The same with another k."""
        return replace(self, k=k, rules=self.rules._replace(k=k) if self.rules else None)

    def legal(self, classes: Codes, count: int) -> npt.NDArray[np.bool_]:
        """For each of ``count`` classes, int32[n] by row (-1: none): may it be released?"""
        if self.rules is None:
            sizes = np.bincount(classes[classes >= 0], minlength=count)
            return np.asarray(sizes >= self.k)
        from anon_sql.kernels.grouping import group
        from anon_sql.kernels.legality import shortfalls

        numbered = np.where(classes < 0, np.int32(count), classes).astype(np.int32)
        order, starts = group(numbered, count + 1)
        lacking = shortfalls(self.rules, order[: starts[count]], starts[: count + 1])
        return np.asarray(lacking == 0)

    def allows(self, rows: npt.NDArray[np.int64]) -> bool:
        """May these rows, int64[m] by position, be a class?"""
        if len(rows) < self.smallest:
            return False
        if self.rules is None:
            return True
        from anon_sql.kernels.sides import legal_rows

        return bool(legal_rows(self.rules, rows))

    def only(self, kept: npt.NDArray[np.bool_]) -> "Constraint":
        """The same of the rows marked in ``kept``, bool[n]; the table's own shares stay."""
        if self.rules is None:
            return self
        keys = np.ascontiguousarray(self.rules.keys[:, kept])
        return replace(self, rules=self.rules._replace(keys=keys))


def diversity(rules: "Rules", bag: int) -> float:
    """The largest l that the whole table has in a sensitive column."""
    counts = rules.held[bag, : rules.known[bag]].astype(np.float64)
    if KINDS[rules.kind] == "distinct" or len(counts) == 0:
        return float(len(counts))
    if KINDS[rules.kind] == "entropy":
        shares = counts / counts.sum()
        return float(np.exp(-(shares * np.log(shares)).sum()))
    most = -np.sort(-counts)
    tails = np.cumsum(most[::-1])[::-1]
    return float((most[0] < rules.c * tails).sum())


def _rounded_down(number: float) -> str:
    return f"{np.floor(number * 1000) / 1000:g}"


def constraint(
    k: int,
    sensitive: Sequence[Sensitive],
    persons: Codes | None,
    *,
    l: float = 1.0,  # noqa: E741 - the field's name for it
    kind: str = "distinct",
    c: float = 3.0,
    t: float = 1.0,
) -> Constraint:
    """What is asked of the rows of a table. persons: int32[n], whose each row is, from 0."""
    if persons is None and l <= 1 and t >= 1:
        return Constraint(k)
    from anon_sql.kernels.bags import Rules

    asked = list(sensitive) if l > 1 or t < 1 else []
    bags = [_bag(column.codes, column.known, persons) for column in asked]
    if persons is not None:
        bags.append(_bag(persons, int(persons.max(initial=-1)) + 1, None))
    held = _even([bag[2] for bag in bags], np.int64)
    below = np.cumsum(held, axis=1, dtype=np.float64)
    rules = Rules(
        k=k,
        l=float(l),
        kind=KINDS.index(kind),
        c=float(c),
        t=float(t),
        keys=np.array([bag[0] for bag in bags]),
        value=_even([bag[1] for bag in bags], np.int32),
        pairs=persons is not None,
        known=np.array([*(column.known for column in asked), -1][: len(bags)], np.int64),
        ordered=np.array([*(column.ordered for column in asked), False][: len(bags)], np.bool_),
        held=held,
        total=held.sum(axis=1),
        below=below,
        area=np.cumsum(below, axis=1) - below,
        persons=persons is not None,
    )
    return Constraint(k, rules, tuple(column.name for column in asked))


def _bag(codes: Codes, known: int, persons: Codes | None) -> tuple[Codes, Codes, Counts]:
    """Of a column: the key of each row, the value of each key, and how many keys a value has."""
    if persons is None:
        return codes, np.arange(known + 1, dtype=np.int32), np.bincount(codes, minlength=known + 1)
    many = int(persons.max(initial=0)) + 1
    pairs, keys = np.unique(codes.astype(np.int64) * many + persons, return_inverse=True)
    value = (pairs // many).astype(np.int32)
    return keys.reshape(-1).astype(np.int32), value, np.bincount(value, minlength=known + 1)


def _even(rows: Sequence[npt.NDArray[Any]], kind: type) -> npt.NDArray[Any]:
    """Rows of any length as one array, zeros behind the shorter ones."""
    table: npt.NDArray[Any] = np.zeros((len(rows), max(map(len, rows), default=0)), kind)
    for at, row in enumerate(rows):
        table[at, : len(row)] = row
    return table
