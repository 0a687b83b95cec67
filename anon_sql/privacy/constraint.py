"""Define the constraints on equivalence classes: k, l, t, beta and delta.

Bound the share of each sensitive value in a class: β-likeness and δ-disclosure privacy. With p the
share of a value in the whole table and q its share in a class, enhanced β-likeness (Cao and Karras
2012, definition 3) requires (q - p) / p <= min(β, -ln p), and δ-disclosure privacy (Brickell and
Shmatikov 2008, definition 3) |ln(q / p)| < δ for every value of the table, so that none is lacking
in a class. NULL is a value. Both are least and largest shares. The share in a union of classes lies
between those in the classes, so the union of legal classes is legal.

A class is legal if it satisfies all of them. The union of legal classes is legal, so merging ends
with legal classes. If persons are counted instead of rows, this holds only for k and for distinct
l-diversity, because a person with rows in two classes counts once in their union; merging still
ends, because ``Constraint.require`` ensures that the whole table is legal.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import zip_longest
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql import kernels
from anon_sql.errors import AnonError, Argument, Parameter
from anon_sql.privacy.l_diversity import KINDS

Shares = npt.NDArray[np.float64]
_SURE = 1e-9  # subtracted before rounding up


def share_bounds(
    held: npt.NDArray[np.int64], beta: float | None, delta: float | None
) -> tuple[Shares, Shares]:
    """Return the least and the largest share of each value in a class, float64[b, v] each.

    held: int64[b, v], count of each value in the table, for b columns. Without δ there are no least
    shares, float64[b, 0], and without both no largest ones. The bounds of δ are irrational, so that
    no share equals them.
    """
    none = np.zeros((len(held), 0))
    shares = held / np.maximum(held.sum(axis=1, keepdims=True), 1)
    least, most = none, none
    if beta is not None:
        gain = -np.log(np.where(held > 0, shares, 1.0))
        most = shares * (1 + np.minimum(beta, gain))
    if delta is not None:
        least, above = shares * np.exp(-delta), shares * np.exp(delta)
        most = above if beta is None else np.minimum(most, above)
    return least, most


def fewest_rows(least: Shares, most: Shares) -> int:
    """Return the least possible number of rows of a class whose shares are within the bounds.

    A class of m rows has a share of at least 1 / m of some value, and of every value where there
    are least shares.
    """
    found = 1.0
    for row in range(len(most)):
        bounds = most[row][most[row] > 0]
        if len(bounds):
            every = least.shape[1] > 0
            found = max(found, 1 / (bounds.min() if every else bounds.max()), every * len(bounds))
    return ceil(found - _SURE)


Codes = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Sensitive:
    """A sensitive column.

    codes: int32[n], 0 to known - 1 in ascending order of the values, known for NULL. ordered:
    whether t uses the ordered distance (by rank) instead of the equal distance. counts:
    int64[known + 1], rows or persons of each value in the whole table, which t compares with; None
    if these are all of its rows.
    """

    name: str
    codes: Codes
    known: int
    ordered: bool
    counts: Counts | None = None


@dataclass(frozen=True)
class Constraint:
    """The constraints that every class must satisfy.

    k: minimum number of rows, or of persons if ``rules.persons``. rules: arrays for l, t, beta,
    delta and persons, indexed by the row positions of one table; None if only k is required.
    names: the sensitive columns.
    """

    k: int
    rules: "kernels.legality.Rules | None" = None
    names: tuple[str, ...] = ()

    @property
    def smallest(self) -> int:
        """Return the least possible number of rows of a legal class."""
        rules = self.rules
        if rules is None:
            return self.k
        return max(self.k, ceil(rules.l), fewest_rows(rules.least, rules.most))

    @property
    def promise(self) -> str:
        """Return the constraints as a phrase for error messages."""
        if self.rules is None:
            return f"have at least {self.k} rows"
        return "satisfy k, l, t, beta and delta" if self.rules.most.size else "satisfy k, l and t"

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
                f"each part of a table must {self.promise} as one class",
                "one that does not",
                "nothing was released; please report this",
            )
        raise self.refusal(function, int((rules.held[-1] > 0).sum()) if rules.persons else rows)

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
        best = [diversity(rules, bag) for bag in range(len(self.names))]
        worst = int(np.argmin(best))
        return AnonError(
            function,
            Parameter("l") + f" must be at most what the whole table has in {self.names[worst]}, "
            f"{_rounded_down(best[worst])} ({KINDS[rules.kind]})",
            Argument("l", Decimal(f"{rules.l:g}")),
        )

    def at(self, k: int) -> "Constraint":
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

        t, beta and delta still refer to the distribution in the whole table.
        """
        if self.rules is None:
            return self
        keys = np.ascontiguousarray(self.rules.keys[:, kept])
        return replace(self, rules=self.rules._replace(keys=keys))


def diversity(rules: "kernels.legality.Rules", bag: int) -> float:
    """Return the largest l that the whole table satisfies in sensitive column number ``bag``."""
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
    """Return a number rounded down to three decimals, so that it is still satisfied as l."""
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
    beta: float | None = None,
    delta: float | None = None,
) -> Constraint:
    """Return the constraint on the classes of a table.

    persons: int32[n], the person of each row, numbered from 0; None to count rows. l, kind, c:
    l-diversity, with c for the recursive kind. t: t-closeness, 1 for none. beta, delta: see
    ``share_bounds``, None for none.
    """
    protects = l > 1 or t < 1 or beta is not None or delta is not None
    if persons is None and not protects:
        return Constraint(k)

    asked = list(sensitive) if protects else []
    bags = [_bag(column.codes, column.known, persons) for column in asked]
    if persons is not None:
        bags.append(_bag(persons, int(persons.max(initial=-1)) + 1, None))
    whole = [column.counts for column in asked]
    counts = [own[2] if given is None else given for own, given in zip_longest(bags, whole)]
    held = _padded(counts, np.int64)
    below = np.cumsum(held, axis=1, dtype=np.float64)
    least, most = share_bounds(_padded(counts[: len(asked)], np.int64), beta, delta)
    rules = kernels.legality.Rules(
        k=k,
        l=float(l),
        kind=KINDS.index(kind),
        c=float(c),
        t=float(t),
        keys=np.array([bag[0] for bag in bags]),
        value=_padded([bag[1] for bag in bags], np.int32),
        pairs=persons is not None,
        known=np.array([*(column.known for column in asked), -1][: len(bags)], np.int64),
        ordered=np.array([*(column.ordered for column in asked), False][: len(bags)], np.bool_),
        held=held,
        total=held.sum(axis=1),
        below=below,
        area=np.cumsum(below, axis=1) - below,
        least=least,
        most=most,
        persons=persons is not None,
    )
    return Constraint(k, rules, tuple(column.name for column in asked))


def _bag(codes: Codes, known: int, persons: Codes | None) -> tuple[Codes, Codes, Counts]:
    """Return the key of each row, the value of each key, and the number of keys of each value.

    A key is a value, or a pair of value and person if persons are counted.
    """
    if persons is None:
        return codes, np.arange(known + 1, dtype=np.int32), np.bincount(codes, minlength=known + 1)
    many = int(persons.max(initial=0)) + 1
    pairs, keys = np.unique(codes.astype(np.int64) * many + persons, return_inverse=True)
    value = (pairs // many).astype(np.int32)
    return keys.reshape(-1).astype(np.int32), value, np.bincount(value, minlength=known + 1)


def _padded(rows: Sequence[npt.NDArray[Any]], kind: type) -> npt.NDArray[Any]:
    """Return rows of different lengths as one two-dimensional array, padded with zeros."""
    table: npt.NDArray[Any] = np.zeros((len(rows), max(map(len, rows), default=0)), kind)
    for at, row in enumerate(rows):
        table[at, : len(row)] = row
    return table
