"""What k, l and t ask and a method's cuts do not give: classes merge, and are cut again."""

import numpy as np
import numpy.typing as npt

from anon_sql.constraints import Constraint
from anon_sql.joining import dense
from anon_sql.merging import merge_until_legal
from anon_sql.splitting import split_classes
from anon_sql.table import QuasiTable
from anon_sql.workers import Workers

Classes = npt.NDArray[np.int32]


def protect(
    table: QuasiTable, classes: Classes, constraint: Constraint, workers: Workers
) -> Classes:
    """Class ids int32[n] (-1: suppressed, left alone) of which each is legal.

    A class that was legal and took none in stays as the method made it; one that merged is cut
    again as far as its parts stay legal.
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
    """For each class of ``after`` (the last entry is for -1): does it hold rows of two before?"""
    least = np.full(int(after.max()) + 2, np.iinfo(np.int32).max)
    most = np.full(len(least), -1)
    np.minimum.at(least, after, before)
    np.maximum.at(most, after, before)
    return np.asarray(least < most)
