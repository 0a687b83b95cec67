"""How diverse the sensitive values of every class are (Machanavajjhala et al. 2006)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql.core.parameters import Choice, Number, Positive, param
from anon_sql.errors import Argument
from anon_sql.privacy.class_values import Spread

Floats = npt.NDArray[np.float64]
KINDS = ("distinct", "entropy", "recursive")
KIND = Choice(KINDS)
C = Positive()


@dataclass(frozen=True)
class LDiversity:
    """Every class has l diverse values of each sensitive column; NULL is none of them."""

    l: float = param(  # noqa: E741 - the field's name for it
        1, Number(1), "smallest diversity of each sensitive column in a class", bound=True
    )
    l_kind: str = param(
        "distinct", KIND, "what l counts: 'distinct' values, 'entropy' or 'recursive'"
    )
    c: float = param(3, C, "the constant of " + Argument("l_kind", "recursive"))


def diversity(values: Spread, kind: str = "distinct", c: float = 3.0) -> Floats:
    """Return the l of each class, float64[m]; NULL does not count, a class of NULLs alone has 0.

    kind: ``distinct``, the values; ``entropy``, exp of their entropy; ``recursive``, the largest l
    with r_1 < c (r_l + ... + r_v), r the counts of the values in descending order.
    """
    known, classes = values.known, len(values.starts)
    class_of, counts = values.class_of[known], values.counts[known]
    if kind == "distinct":
        return _sums(class_of, np.ones(len(counts)), classes)
    if kind == "entropy":
        total = _sums(class_of, counts, classes)
        logs = _sums(class_of, counts * np.log(counts), classes)
        whole = np.maximum(total, 1)
        return np.where(total > 0, np.exp(np.log(whole) - logs / whole), 0.0)
    order = np.lexsort((counts, class_of))
    class_of, counts = class_of[order], counts[order]
    running = np.cumsum(counts)
    first = np.searchsorted(class_of, np.arange(classes))
    before = np.append(0, running)[first]
    most = np.zeros(classes, dtype=np.int64)
    np.maximum.at(most, class_of, counts)
    enough = most[class_of] < c * (running - before[class_of])
    return _sums(class_of[enough], np.ones(int(enough.sum())), classes)


def _sums(class_of: npt.NDArray[np.int64], values: npt.NDArray[Any], classes: int) -> Floats:
    return np.bincount(class_of, values, classes).astype(np.float64)
