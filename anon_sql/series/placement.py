"""Place newcomers to a series into cohorts of at least l people with different sensitive values.

Newcomers are divided into leaves by their quasi-identifiers alone. A leaf is halved repeatedly
while few of its people are expected to wait afterwards. This depends on how often each value occurs
in the leaf, never on the halves. Within a leaf, cohorts are formed in a secret random order:

1. While one value has more than 1/l of the rows, one row with it waits.
2. One row of each of the l most frequent values forms a cohort, as long as there are l values.
3. Each remaining row joins a cohort that lacks its values, or waits.

Exchanging the values of two members of a cohort therefore changes neither a leaf nor the
probability of any cohort. An attacker who knows the method and the cohorts cannot assign values to
members (theorem on the page about releasing again). Each of these would break it: halving a leaf
because both halves can be divided into cohorts; choosing the nearest partner; joining the remaining
rows of several leaves; placing people who have waited together with others.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_sql import kernels
from anon_sql.core.table import QuasiTable

Ids = npt.NDArray[np.int32]

MIN_HALVED_ROWS = 12  # of a leaf
MAX_BARE_SHARE = 0.01  # expected share of halves without any cohort
DEALS = 40  # random deals by which a leaf's own counts are judged


@dataclass(frozen=True)
class CohortPlacement:
    """The cohorts of n people.

    cohorts: int32[n], from 0, -1 for a person who waits. cover: int32[n], for a person who waits,
    the cohort of the nearest member, whose label also covers the person; -1 without a member, and
    for others. largest: the largest share of a leaf that waits.
    """

    cohorts: Ids
    cover: Ids
    largest: float


def place(
    table: QuasiTable,
    classes: Ids,
    codes: Ids,
    rank: npt.NDArray[np.uint64],
    l: int,  # noqa: E741 - the field's name for it
    waiting: float,
    apart: bool,
) -> CohortPlacement:
    """Return the cohorts of the people of a table, in source order.

    classes: int32[n], blind leaves, in canonical order. codes: int32[n, s], the value of each
    sensitive column; rank: uint64[n], random numbers that are secret; both in the order of the
    source. waiting: largest expected share that a halved leaf may make wait. apart: whether these
    are people who have waited, for whom there is no guarantee. Near ones mostly have the same
    value, so their leaves are not halved, and a leaf without a cohort is united with the nearest
    one.
    """
    order, weight = table.order, table.model.weight
    judged = (table.rows + 1 if apart else MIN_HALVED_ROWS, waiting, MAX_BARE_SHARE, DEALS)
    while True:
        rows, starts = kernels.hashing.group(classes, int(classes.max()) + 1)
        leaf, cohort = kernels.cohorts.divide(
            table.points, weight, codes[order], rank[order], rows, starts, l, judged
        )
        bare = _bare(classes, cohort)
        if not apart or not len(bare) or classes.max() == 0:
            break
        classes = _united(table, classes, int(bare[0]))
    many = int(leaf.max()) + 1
    nearest = kernels.cohorts.nearest(
        table.points, weight, leaf, cohort, *kernels.hashing.group(leaf, many)
    )
    waits = np.bincount(leaf[cohort < 0], minlength=many) / np.bincount(leaf, minlength=many)
    cohorts, cover = np.empty_like(cohort), np.empty_like(nearest)
    cohorts[order], cover[order] = cohort, nearest
    return CohortPlacement(cohorts, cover, float(waits.max()))


def _bare(classes: Ids, cohort: Ids) -> npt.NDArray[np.intp]:
    """Return the classes without any cohort."""
    return np.flatnonzero(np.bincount(classes, weights=cohort >= 0) == 0)


def _united(table: QuasiTable, classes: Ids, class_id: int) -> Ids:
    """Return classes of which one is united with that of the row nearest to its first row."""
    row = int(np.flatnonzero(classes == class_id)[0])
    away = np.minimum(np.abs(table.points - table.points[row]), table.model.weight).sum(1)
    away[classes == class_id] = np.inf
    joined = np.where(classes == class_id, classes[int(away.argmin())], classes)
    return np.unique(joined, return_inverse=True)[1].astype(np.int32)
