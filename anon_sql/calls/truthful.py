"""Every value must lie in its label: the proof, and the error where it fails."""

from collections.abc import Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from anon_sql.columns import Categories
from anon_sql.errors import AnonError
from anon_sql.hierarchical import Hierarchical


def require_truth(
    function: str,
    column: Categories | Hierarchical,
    allowed: Sequence[Sequence[int]],
    label_of: npt.NDArray[np.int32],
    classes: npt.NDArray[np.int32],
) -> None:
    """Raise AnonError unless each row's code is among those its label stands for when read.

    allowed: the codes of each label, ascending; label_of int32[m]: which one each class has;
    classes int32[n]: the class of each row, m for one that does not count.
    """
    from anon_sql.kernels.truth import outside_set

    ends = np.cumsum([0, *map(len, allowed)]).astype(np.int64)
    flat = np.fromiter(chain.from_iterable(allowed), np.int32, int(ends[-1]))
    wrong = outside_set(classes, label_of, column.codes, ends, flat)
    if wrong:
        raise untrue(function, column.name, wrong)


def untrue(function: str, name: str, wrong: int) -> AnonError:
    """The error for so many values of a column that are not in their labels."""
    return AnonError(
        function,
        "every value must lie in its label",
        f"{wrong} values of {name} that do not",
        "nothing was released; please report this",
    )
