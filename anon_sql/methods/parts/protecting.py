"""Make every class satisfy k, l and t: merge classes, and split merged ones again."""

import numpy as np
import numpy.typing as npt

from anon_sql.core.constraints import Constraint
from anon_sql.core.table import QuasiTable
from anon_sql.core.workers import Workers
from anon_sql.methods.parts.joining import dense
from anon_sql.methods.parts.merging import merge_until_legal
from anon_sql.methods.parts.splitting import split_classes

Classes = npt.NDArray[np.int32]


def protect(
    table: QuasiTable, classes: Classes, constraint: Constraint, workers: Workers
) -> Classes:
    """Return class ids int32[n] such that each class is legal; -1 (suppressed) stays.

    A legal class that took in no other stays as the method made it; a merged class is split again
    as far as its parts are legal. The rows that are not suppressed must be legal together.
    """
    merged = merge_until_legal(table, classes, constraint, workers)
    if constraint.rules is None or len(merged) == 0:
        return merged
    changed = mixed(classes, merged)[merged] & (merged >= 0)
    if not changed.any():
        return merged
    parts = split_classes(
        table.only(changed), dense(merged[changed]), constraint.only(changed), workers
    )
    result = merged.copy()
    result[changed] = merged.max() + 1 + parts
    return dense(result)


def mixed(before: Classes, after: Classes) -> npt.NDArray[np.bool_]:
    """Return whether each class of ``after``, and last -1, holds rows of two classes before."""
    least = np.full(int(after.max()) + 2, np.iinfo(np.int32).max)
    most = np.full(len(least), -1)
    np.minimum.at(least, after, before)
    np.maximum.at(most, after, before)
    return np.asarray(least < most)
