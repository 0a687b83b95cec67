"""l-diversity: a class has l diverse values of each sensitive column."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql.core.parameters import Choice, Number, Positive, param
from anon_sql.errors import AnonError, Argument, Parameter
from anon_sql.privacy.class_values import ClassValues, Floats, Ints, TableValues
from anon_sql.privacy.model import ROUNDING, ValueModel, many

KINDS = ("distinct", "entropy", "recursive")  # as kernels.legality numbers them


@dataclass(frozen=True)
class LDiversity(ValueModel):
    """Every class has l diverse values of each sensitive column; NULL does not count.

    Its kernel is ``kernels.legality.short_of_l``.
    """

    name = "l"
    title = "l-diversity"
    reference = "Machanavajjhala et al. 2006"
    broken = "An attacker who finds a person's group learns or nearly guesses the sensitive value."
    named_with = ("l", "t")
    worst = "The smallest l of a class"
    at_least = True
    measured = True

    l: float = param(  # noqa: E741 - the field's name for it
        1, Number(1), "minimum diversity of each sensitive column in a class", bound=True
    )
    l_kind: str = param(
        "distinct", Choice(KINDS), "kind of l-diversity: 'distinct', 'entropy' or 'recursive'"
    )
    c: float = param(3, Positive(), "constant c of " + Argument("l_kind", "recursive"))

    @property
    def monotone(self) -> bool:
        return self.l_kind == "distinct"

    @property
    def same_for_persons(self) -> bool:
        return self.l_kind == "distinct"

    @property
    def rules(self) -> Mapping[str, Any]:
        return {"l": float(self.l), "kind": KINDS.index(self.l_kind), "c": float(self.c)}

    @property
    def remark(self) -> str:
        return f" ({self.l_kind})"

    def check(self, function: str) -> None:
        if self.l_kind != "entropy" and self.l != int(self.l):
            raise AnonError(
                function,
                Parameter("l")
                + " must be a whole number where "
                + Parameter("l_kind")
                + f" is '{self.l_kind}'",
                f"{self.l:g}",
                Argument("l_kind", "entropy") + " takes fractions",
            )
        if self.l_kind == "recursive" and not self.required and self.c <= 1:
            raise AnonError(
                function,
                Parameter("l")
                + " must be at least 2 if "
                + Parameter("l_kind")
                + " is 'recursive' and "
                + Parameter("c")
                + " is at most 1",
                f"{self.l:g}",
                "1 requires nothing",
            )

    def measure(self, values: ClassValues, table: TableValues | None = None) -> Floats:
        """Return the l of each class; NULL does not count, a class of NULLs alone has 0.

        It is for ``distinct`` the number of values; for ``entropy`` exp of their entropy; for
        ``recursive`` the largest l with r_1 < c (r_l + ... + r_v), r the counts of the values in
        descending order.
        """
        non_null, classes = values.non_null, len(values.starts)
        class_of, counts = values.class_of[non_null], values.counts[non_null]
        if self.l_kind == "distinct":
            return _sums(class_of, np.ones(len(counts)), classes)
        if self.l_kind == "entropy":
            total = _sums(class_of, counts, classes)
            logs = _sums(class_of, counts * np.log(counts), classes)
            divisor = np.maximum(total, 1)
            return np.where(total > 0, np.exp(np.log(divisor) - logs / divisor), 0.0)
        order = np.lexsort((counts, class_of))
        class_of, counts = class_of[order], counts[order]
        running = np.cumsum(counts)
        first = np.searchsorted(class_of, np.arange(classes))
        rows_before = np.append(0, running)[first]
        r1 = np.zeros(classes, dtype=np.int64)
        np.maximum.at(r1, class_of, counts)
        satisfied = r1[class_of] < self.c * (running - rows_before[class_of])
        return _sums(class_of[satisfied], np.ones(int(satisfied.sum())), classes)

    def meaning(self, reached: float, passed: bool) -> str:
        if passed and reached < self.level * (1 - ROUNDING):  # a class of NULLs alone
            return f"{self.worst} is {reached:,.4g}; {self.name} = {self.level:g} requires nothing."
        if self.l_kind != "distinct":
            return super().meaning(reached, passed)
        fewest = many(round(reached), "value")
        required = f"at least {self.level:,g} {'is' if self.level == 1 else 'are'} required"
        if passed:
            return f"Every class has at least {fewest} of each sensitive column; {required}."
        return f"A class has only {fewest} of a sensitive column; {required}."

    def of_table(self, counts: Ints, non_null: int) -> float:
        shares = counts[:non_null].astype(np.float64)
        if self.l_kind == "distinct" or non_null == 0:
            return float(non_null)
        if self.l_kind == "entropy":
            return even_values(shares)
        descending = -np.sort(-shares)
        tails = np.cumsum(descending[::-1])[::-1]
        return float((descending[0] < self.c * tails).sum())


def even_values(counts: Any) -> float:
    """Return how many equally frequent values are as hard to guess as values with these counts.

    It is exp of the entropy of their shares; counts: above 0.
    """
    shares = counts / counts.sum()
    return float(np.exp(-(shares * np.log(shares)).sum()))


def _sums(class_of: Ints, values: npt.NDArray[Any], classes: int) -> Floats:
    return np.bincount(class_of, values, classes).astype(np.float64)
