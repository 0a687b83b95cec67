"""Divide people into leaves, and leaves into cohorts; ``series/placement.py`` says by which rules.

Random draws are those of a counter, so that equal counts of values are always judged in the same
way. Source: this project.
"""

import numpy as np

from anon_sql.kernels.distance import UNIT, draw
from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.sorting import merge_sort

HALF_BITS = np.uint64(32)


@kernel
def form(codes, rows, l):  # noqa: E741 - the field's name for it
    """Return the cohort of each row, int32[m], from 0; -1 for rows that wait.

    codes: int32[n, s], the value of each sensitive column; only whether two are equal counts.
    rows: int32[m], rows of ``codes`` in random order, which breaks all ties.
    l: int, the diversity of a cohort.
    """
    m, s = rows.size, codes.shape[1]
    cohort, placed, remaining = np.full(m, -1, np.int32), np.full(m, True), m
    counts, value_of = _counted(codes, rows)
    while remaining:  # one value has more than 1/l of the rows: the last such row waits
        column, largest = -1, 0
        for c in range(s):
            for value in range(m):
                if counts[c, value] * l > remaining and counts[c, value] > largest:
                    column, largest = c, counts[c, value]
        if column < 0:
            break
        i = m - 1
        while not placed[i] or counts[column, value_of[i, column]] < largest:
            i -= 1
        placed[i] = False
        remaining -= 1
        for c in range(s):
            counts[c, value_of[i, c]] -= 1
    return _grouped(value_of, counts, placed, l, cohort)


@kernel
def _counted(codes, rows):
    """Return how often each value occurs in rows, int64[s, m], and its number of each, int64[m, s].

    Values are numbered as they come.

    codes: int32[n, s], the value of each sensitive column; only whether two are equal counts.
    rows: int32[m], rows of a leaf.
    """
    m, s = rows.size, codes.shape[1]
    counts, value_of = np.zeros((s, m), np.int64), np.empty((m, s), np.int64)
    value_at = np.empty(m, np.int64)
    for c in range(s):
        distinct = 0
        for i in range(m):
            value = codes[rows[i], c]
            number = 0
            while number < distinct and value_at[number] != value:
                number += 1
            if number == distinct:
                value_at[distinct] = value
                distinct += 1
            value_of[i, c] = number
            counts[c, number] += 1
    return counts, value_of


@kernel
def _grouped(value_of, counts, placed, l, cohort):  # noqa: E741, PLR0912
    """Write the cohort of the rows that are placed, and return it.

    value_of: int64[m, s], the number of each row's value in each sensitive column, from
        ``_counted``.
    counts: int64[s, m], how often each value occurs; changed.
    placed: bool[m], the rows that do not wait.
    l: int, the diversity of a cohort.
    cohort: int32[m], -1 for each row; written.
    """
    m, s = value_of.shape
    group, first_of, group_count = np.full(m, -1, np.int64), np.empty(m, np.int64), 0
    for i in range(m):  # groups of rows alike, by their first row
        if not placed[i]:
            continue
        j = 0
        while j < group_count and not _alike(value_of, i, first_of[j]):
            j += 1
        if j == group_count:
            first_of[group_count] = i
            group_count += 1
        group[i] = j
    size, last = np.zeros(group_count, np.int64), np.full(group_count, m, np.int64)
    for i in range(m):
        if placed[i]:
            size[group[i]] += 1
    chosen, cohort_count = np.empty(l, np.int64), 0
    while True:
        j = 0
        while j < l:  # the most frequent that differs from those chosen, else the first
            best_group, highest_count = -1, 0
            for candidate in range(group_count):
                if size[candidate] == 0:
                    continue
                frequent = 0
                for c in range(s):
                    frequent = max(frequent, counts[c, value_of[first_of[candidate], c]])
                if frequent > highest_count and _unlike(value_of, first_of, candidate, chosen, j):
                    best_group, highest_count = candidate, frequent
            if best_group < 0:
                break
            chosen[j] = best_group
            j += 1
        if j < l:
            break
        for j in range(l):
            candidate = chosen[j]
            i = last[candidate] - 1
            while group[i] != candidate or not placed[i]:
                i -= 1
            last[candidate], cohort[i] = i, cohort_count
            size[candidate] -= 1
            for c in range(s):
                counts[c, value_of[i, c]] -= 1
        cohort_count += 1
    for candidate in range(group_count):  # what is left joins a cohort that lacks its values
        for i in range(m if cohort_count > 0 and size[candidate] > 0 else 0):
            if group[i] == candidate and placed[i] and cohort[i] < 0:
                cohort[i] = _lacking(value_of, cohort, i, cohort_count)
    return cohort


@kernel
def _alike(value_of, one, other):
    """Return whether two rows have equal values.

    value_of: int64[m, s], the number of each row's value in each sensitive column, from
        ``_counted``.
    one, other: int, the rows.
    """
    same = True
    for c in range(value_of.shape[1]):
        same &= value_of[one, c] == value_of[other, c]
    return same


@kernel
def _unlike(value_of, first_of, group, chosen, chosen_count):
    """Return whether a group differs from the chosen ones in every column.

    value_of: int64[m, s], the number of each row's value in each sensitive column, from
        ``_counted``.
    first_of: int64[g], the first row of each group of rows with equal values.
    group: int, the group.
    chosen: int64[l], the chosen groups.
    chosen_count: int, how many are chosen.
    """
    for j in range(chosen_count):
        for c in range(value_of.shape[1]):
            if value_of[first_of[group], c] == value_of[first_of[chosen[j]], c]:
                return False
    return True


@kernel
def _lacking(value_of, cohort, row, cohort_count):
    """Return the first cohort that has none of the values of a row; -1 for none.

    value_of: int64[m, s], the number of each row's value in each sensitive column, from
        ``_counted``.
    cohort: int32[m], cohort of each row, -1 for none.
    row: int, the row.
    cohort_count: int, number of cohorts.
    """
    for candidate in range(cohort_count):
        fits = True
        for i in range(cohort.size):
            if cohort[i] == candidate:
                for c in range(value_of.shape[1]):
                    fits &= value_of[i, c] != value_of[row, c]
        if fits:
            return candidate
    return -1


@kernel
def expected(counts, l, deals):  # noqa: E741
    """Return the mean share that waits, and of halves without a cohort, if values are dealt.

    counts: int64[v], how often each value occurs.
    l: int, the diversity of a cohort.
    deals: int, how often they are dealt.
    """
    value_count, rows = counts.size, 0
    for value in range(value_count):
        rows += counts[value]
    dealt, half, middle = np.empty(rows, np.int64), np.empty(value_count, np.int64), rows // 2
    ranked, values = np.empty(value_count, np.uint64), np.empty(value_count, np.int32)
    for value in range(value_count):
        ranked[value], values[value] = np.uint64(rows - counts[value]), value
    merge_sort(ranked, values)
    waiting, without_cohort, step = 0, 0, np.uint64(0)
    for _ in range(deals):
        i = 0
        for value in range(value_count):
            for _ in range(counts[values[value]]):
                dealt[i] = value
                i += 1
        for i in range(rows - 1, 0, -1):
            bits = draw(np.uint64(rows), step) >> HALF_BITS
            step += np.uint64(1)
            other = np.int64((bits * np.uint64(i + 1)) >> HALF_BITS)
            dealt[i], dealt[other] = dealt[other], dealt[i]
        for side in range(2):
            half[:] = 0
            first, end = (0, middle) if side == 0 else (middle, rows)
            largest = 0
            for i in range(first, end):
                half[dealt[i]] += 1
                largest = max(largest, half[dealt[i]])
            placed = 0
            while largest > 0:  # rows that are left if no value had more than ``most``
                placed = 0
                for value in range(value_count):
                    placed += min(half[value], largest)
                if placed >= l * largest:
                    break
                largest -= 1
            placed = placed if largest > 0 else 0
            waiting += end - first - placed
            without_cohort += placed == 0
    return waiting / deals / rows, without_cohort / deals / 2


@kernel
def promises_little(codes, rows, l, waiting, limit, deals):  # noqa: E741
    """Return whether halves of such values, dealt at random, would make few of them wait.

    codes: int32[n, s], the value of each sensitive column; only whether two are equal counts.
    rows: int32[m], rows of a leaf.
    l: int, the diversity of a cohort.
    waiting: float64, the largest share that waits.
    limit: float64, the largest share of halves without a cohort.
    deals: int, how often they are dealt.
    """
    counts, _ = _counted(codes, rows)
    for c in range(counts.shape[0]):
        value_count = 0
        while value_count < rows.size and counts[c, value_count] > 0:
            value_count += 1
        share, bare_share = expected(counts[c, :value_count].copy(), l, deals)
        if share > waiting or bare_share > limit:
            return False
    return True


@kernel
def halve(points, weight, rows):
    """Put the rows nearer to one of two far ones first, in place; return whether rows differ.

    Half of the rows come first. Each half keeps its order.

    points: float64[n, d], the points of the rows in each column.
    weight: float64[d], the largest distance in each column.
    rows: int32[m], rows of a leaf; they are put in another order.
    """
    m = rows.size
    from_first, from_second = np.empty(m), np.empty(m)
    first_pole = _farthest(points, weight, rows, 0, from_first)
    second_pole = _farthest(points, weight, rows, first_pole, from_first)
    if from_first[second_pole] == 0:
        return False
    _farthest(points, weight, rows, second_pole, from_second)
    keys, places = np.empty(m, np.uint64), np.empty(m, np.int32)
    for i in range(m):
        keys[i] = np.uint64((from_first[i] - from_second[i] + weight.size) * UNIT)
        places[i] = i
    merge_sort(keys, places)
    is_near, unsorted, position = np.full(m, False), rows.copy(), 0
    for i in range(m // 2):
        is_near[places[i]] = True
    for side in range(2):
        for i in range(m):
            if is_near[i] == (side == 0):
                rows[position] = unsorted[i]
                position += 1
    return True


@kernel
def _farthest(points, weight, rows, origin, distance):
    """Write the distance of each row from one of them; return the position of the farthest.

    points: float64[n, d], the points of the rows in each column.
    weight: float64[d], the largest distance in each column.
    rows: int32[m], rows of a leaf.
    origin: int, position in ``rows`` of the row from which distances are measured.
    distance: float64[m], written.
    """
    farthest = 0
    for i in range(rows.size):
        distance[i] = _distance(points, weight, rows[i], rows[origin])
        if distance[i] > distance[farthest]:
            farthest = i
    return farthest


@kernel
def _distance(points, weight, one, other):
    """Return the distance of two rows.

    points: float64[n, d], the points of the rows in each column.
    weight: float64[d], the largest distance in each column.
    one, other: int, the rows.
    """
    total = 0.0
    for c in range(weight.size):
        total += min(abs(points[one, c] - points[other, c]), weight[c])
    return total


@kernel
def divide(points, weight, codes, rank, rows, starts, l, judged):  # noqa: E741
    """Return the leaf and the cohort of each row, int32[n], each from 0; -1 for rows that wait.

    points: float64[n, d], the points of the rows in each column.
    weight: float64[d], the largest distance in each column.
    codes: int32[n, s], the value of each sensitive column; only whether two are equal counts.
    rank: uint64[n], the secret order.
    rows: int32[n], rows of each blind leaf; they are put in another order.
    starts: int64[…], where each blind leaf begins in ``rows``.
    l: int, the diversity of a cohort.
    judged: (least, waiting, limit, deals): rows of the smallest leaf that is halved, the largest
        expected share that waits and of bare halves, and the number of deals.
    """
    least, waiting, limit, deals = judged
    leaf, cohort = np.full(rank.size, -1, np.int32), np.full(rank.size, -1, np.int32)
    room = rank.size + starts.size
    todo, ends = np.empty(room, np.int64), np.empty(room, np.int64)
    depth, leaves, cohorts = starts.size - 1, 0, 0
    for i in range(depth):
        todo[i], ends[i] = starts[i], starts[i + 1]
    while depth > 0:
        depth -= 1
        first, end = todo[depth], ends[depth]
        leaf_rows = rows[first:end]
        if (
            leaf_rows.size >= least
            and promises_little(codes, leaf_rows, l, waiting, limit, deals)
            and halve(points, weight, leaf_rows)
        ):
            middle = first + leaf_rows.size // 2
            todo[depth], ends[depth] = first, middle
            todo[depth + 1], ends[depth + 1] = middle, end
            depth += 2
            continue
        keys, ordered, last_cohort = np.empty(leaf_rows.size, np.uint64), leaf_rows.copy(), -1
        for i in range(leaf_rows.size):
            keys[i] = rank[leaf_rows[i]]
        merge_sort(keys, ordered)
        leaf_cohort = form(codes, ordered, l)
        for i in range(leaf_rows.size):
            leaf[ordered[i]] = leaves
            if leaf_cohort[i] >= 0:
                cohort[ordered[i]] = cohorts + leaf_cohort[i]
                last_cohort = max(last_cohort, leaf_cohort[i])
        cohorts += last_cohort + 1
        leaves += 1
    return leaf, cohort


@kernel
def nearest(points, weight, leaf, cohort, rows, starts):
    """Return the cohort of the member nearest to each row that waits, int32[n]; -1 for others.

    The member is of the row's own leaf if that has any, else of any leaf; -1 without a member.

    points: float64[n, d], the points of the rows in each column.
    weight: float64[d], the largest distance in each column.
    leaf: int32[n], the leaf of each row.
    cohort: int32[n], the cohort of each row, -1 for rows that wait.
    rows: int32[n], rows leaf by leaf.
    starts: int64[…], where each leaf begins in ``rows``.
    """
    nearest_cohort = np.full(leaf.size, -1, np.int32)
    for row in range(leaf.size):
        if cohort[row] >= 0:
            continue
        least = np.inf
        for attempt in range(2):
            if least < np.inf:
                break
            first = starts[leaf[row]] if attempt == 0 else 0
            end = starts[leaf[row] + 1] if attempt == 0 else leaf.size
            for i in range(first, end):
                if cohort[rows[i]] >= 0:
                    distance = _distance(points, weight, row, rows[i])
                    if distance < least:
                        least, nearest_cohort[row] = distance, cohort[rows[i]]
    return nearest_cohort
