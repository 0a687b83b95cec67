"""Make one cut of Mondrian: choose the column of largest span and the rows of one side.

The span of a column is the information loss (NCP) of the rows in it, so that sets, numbers and
hierarchies compare.
"""

import numpy as np

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss.coded import NULL, count_loss, span_loss, whole_loss
from anon_sql.kernels.loss.ncp import SET
from anon_sql.kernels.tree.sides import legal_cut
from anon_sql.kernels.tree.vp_cut import nth


@kernel
def span(values, model, column, seen, mark):
    """Return the loss of codes int32[m] of a column, in billionths.

    seen: int32[…], by code, holds the last ``mark`` at which a SET column held it.
    """
    if model.kind[column] == SET:
        count = 0
        for at in range(values.size):
            count += seen[values[at]] != mark
            seen[values[at]] = mark
        null = seen[np.int64(model.null[column])] == mark
        return count_loss(model, column, count, null)
    low, high, nulls = np.int32(NULL), np.int32(-1), 0
    for at in range(values.size):
        value = values[at]
        null = value == NULL
        low = min(low, value)
        high = max(high, np.int32(-1) if null else value)
        nulls += null
    if high < 0:
        return np.int64(0)
    return whole_loss(model, column) if nulls else span_loss(model, column, low, high)


@kernel
def widest(rows, model, bound, known, seen, mark):
    """Return the column of largest loss, ties to the first; -1 where every loss is 0.

    bound: int64[d], an upper bound of each column's loss, exact where known, bool[d]. Since the
    loss of a node never exceeds that of its parent, few columns need to be measured.
    """
    while True:
        column = 0
        for c in range(1, bound.size):
            if bound[c] > bound[column]:
                column = c
        if bound[column] <= 0:
            return -1
        if known[column]:
            return column
        bound[column] = span(rows[:, column], model, column, seen[column], mark)
        known[column] = True


@kernel
def cut_strict(values, null, k, work, side):
    """Mark the rows below the boundary nearest the middle; return whether a cut is allowed.

    values: int32[m]; side: bool[m], written. null: the code of NULL, which is separated from values
    where both sides then have k rows.
    """
    m = values.size
    nulls, below, tied = 0, 0, 0
    for at in range(m):
        work[at] = values[at]
        nulls += values[at] == null
    edge = np.int64(null)
    if not k <= nulls <= m - k:
        edge = np.int64(nth(work[:m], (m - 1) // 2))
        for at in range(m):
            below += values[at] < edge
            tied += values[at] == edge
        after = m - below - tied
        if max(below, after) < k:
            return False
        edge += after >= below
    for at in range(m):
        side[at] = values[at] < edge
    return True


@kernel
def part_equals(values, among, want, null, k, work, side):
    """Mark the ``want`` smallest of values[among] in ``side``; return (rows left equal, want left).

    Moves the positions left undecided to the front of ``among``. null, k: as in ``cut_strict``; k =
    0 does not separate NULL.
    """
    nulls = 0
    for i in range(among.size):
        work[i] = values[among[i]]
        nulls += work[i] == null
    if 0 < k <= nulls <= among.size - k:
        want = among.size - nulls
    edge = nth(work[: among.size], want - 1)
    left = 0
    for i in range(among.size):
        at = among[i]
        value = values[at]
        side[at] = value < edge
        want -= value < edge
        among[left] = at
        left += value == edge
    return left, want


@kernel
def mark_side(rows, model, k, rules, rule, null, bound, seen, mark, scratch):
    """Mark the rows of one side of a cut; return whether a cut is allowed.

    scratch: side bool[m], which is marked, and two arrays of m. rows: int32[m, …], the codes,
    followed by the row's position in ``rules``. rules: None or what each side must satisfy besides
    k. rule: (relaxed, widest only). null: int64[d], the code of NULL. bound: as in ``widest``; set
    to -1 for a column without a cut, which then has none below either.
    """
    relaxed, only = rule
    side, work, among = scratch
    m = rows.shape[0]
    known, left = np.zeros(bound.size, np.bool_), bound.copy()
    count, want = m, (m + 1) // 2
    if relaxed:
        for at in range(m):
            among[at] = at
    while count > want > 0:
        column = widest(rows, model, left, known, seen, mark)
        if column < 0:
            break
        for c in range(bound.size):
            bound[c] = left[c] if left[c] >= 0 else bound[c]
        left[column] = -1
        values = rows[:, column]
        if relaxed:
            part = k if count == m else 0
            count, want = part_equals(values, among[:count], want, null[column], part, work, side)
            continue
        if not cut_strict(values, null[column], k, work, side):
            bound[column] = -1
        elif legal_cut(rules, rows[:, bound.size], side[:m]):
            return True
        if only:
            break
    if relaxed:
        for i in range(count):
            side[among[i]] = i < want
        return legal_cut(rules, rows[:, bound.size], side[:m])
    return False
