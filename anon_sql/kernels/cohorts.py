"""Divide persons into leaves, and leaves into cohorts; ``series/placement.py`` says by which rules.

codes: int32[n, s], the value of each sensitive column; only whether two are equal counts. draws are
those of a counter, so that equal counts of values are always judged alike.
"""

import numpy as np

from anon_sql.kernels.distance import UNIT, draw
from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.sorting import merge_sort

HALF = np.uint64(32)


@kernel
def form(codes, rows, l):  # noqa: E741 - the field's name for it
    """Return the cohort of each row, int32[m], from 0; -1 for rows that wait.

    rows: int32[m], rows of codes in random order, which breaks all ties.
    """
    m, s = rows.size, codes.shape[1]
    found, here, left = np.full(m, -1, np.int32), np.full(m, True), m
    counts, of = _counted(codes, rows)
    while left:  # one value has more than 1/l of the rows: the last such row waits
        column, most = -1, 0
        for c in range(s):
            for value in range(m):
                if counts[c, value] * l > left and counts[c, value] > most:
                    column, most = c, counts[c, value]
        if column < 0:
            break
        at = m - 1
        while not here[at] or counts[column, of[at, column]] < most:
            at -= 1
        here[at] = False
        left -= 1
        for c in range(s):
            counts[c, of[at, c]] -= 1
    return _grouped(of, counts, here, l, found)


@kernel
def _counted(codes, rows):
    """Return how often each value occurs in rows, int64[s, m], and its number of each, int64[m, s].

    Values are numbered as they come.
    """
    m, s = rows.size, codes.shape[1]
    counts, of = np.zeros((s, m), np.int64), np.empty((m, s), np.int64)
    first = np.empty(m, np.int64)
    for c in range(s):
        known = 0
        for at in range(m):
            value = codes[rows[at], c]
            number = 0
            while number < known and first[number] != value:
                number += 1
            if number == known:
                first[known] = value
                known += 1
            of[at, c] = number
            counts[c, number] += 1
    return counts, of


@kernel
def _grouped(of, counts, here, l, found):  # noqa: E741, PLR0912
    """Write the cohort of the rows that are ``here`` into found, and return it."""
    m, s = of.shape
    group, firsts, many = np.full(m, -1, np.int64), np.empty(m, np.int64), 0
    for at in range(m):  # groups of rows alike, by their first row
        if not here[at]:
            continue
        number = 0
        while number < many and not _alike(of, at, firsts[number]):
            number += 1
        if number == many:
            firsts[many] = at
            many += 1
        group[at] = number
    size, last = np.zeros(many, np.int64), np.full(many, m, np.int64)
    for at in range(m):
        if here[at]:
            size[group[at]] += 1
    chosen, made = np.empty(l, np.int64), 0
    while True:
        number = 0
        while number < l:  # the most frequent that differs from those chosen, else the first
            best, often = -1, 0
            for one in range(many):
                if size[one] == 0:
                    continue
                frequent = 0
                for c in range(s):
                    frequent = max(frequent, counts[c, of[firsts[one], c]])
                if frequent > often and _unlike(of, firsts, one, chosen, number):
                    best, often = one, frequent
            if best < 0:
                break
            chosen[number] = best
            number += 1
        if number < l:
            break
        for number in range(l):
            one = chosen[number]
            at = last[one] - 1
            while group[at] != one or not here[at]:
                at -= 1
            last[one], found[at] = at, made
            size[one] -= 1
            for c in range(s):
                counts[c, of[at, c]] -= 1
        made += 1
    for one in range(many):  # what is left joins a cohort that lacks its values
        for at in range(m if made > 0 and size[one] > 0 else 0):
            if group[at] == one and here[at] and found[at] < 0:
                found[at] = _lacking(of, found, at, made)
    return found


@kernel
def _alike(of, one, other):
    same = True
    for c in range(of.shape[1]):
        same &= of[one, c] == of[other, c]
    return same


@kernel
def _unlike(of, firsts, one, chosen, number):
    """Return whether a group differs from the chosen ones in every column."""
    for at in range(number):
        for c in range(of.shape[1]):
            if of[firsts[one], c] == of[firsts[chosen[at]], c]:
                return False
    return True


@kernel
def _lacking(of, found, row, made):
    """Return the first cohort that has none of the values of a row; -1 for none."""
    for cohort in range(made):
        fits = True
        for at in range(found.size):
            if found[at] == cohort:
                for c in range(of.shape[1]):
                    fits &= of[at, c] != of[row, c]
        if fits:
            return cohort
    return -1


@kernel
def expected(counts, l, deals):  # noqa: E741
    """Return the mean share that waits, and of halves without a cohort, if values are dealt.

    counts: int64[v], how often each value occurs. deals: how often they are dealt.
    """
    many, rows = counts.size, 0
    for value in range(many):
        rows += counts[value]
    kinds, half, middle = np.empty(rows, np.int64), np.empty(many, np.int64), rows // 2
    ranked, values = np.empty(many, np.uint64), np.empty(many, np.int32)
    for value in range(many):
        ranked[value], values[value] = np.uint64(rows - counts[value]), value
    merge_sort(ranked, values)
    waits, bare, step = 0, 0, np.uint64(0)
    for _ in range(deals):
        at = 0
        for value in range(many):
            for _ in range(counts[values[value]]):
                kinds[at] = value
                at += 1
        for at in range(rows - 1, 0, -1):
            bits = draw(np.uint64(rows), step) >> HALF
            step += np.uint64(1)
            other = np.int64((bits * np.uint64(at + 1)) >> HALF)
            kinds[at], kinds[other] = kinds[other], kinds[at]
        for side in range(2):
            half[:] = 0
            first, end = (0, middle) if side == 0 else (middle, rows)
            most = 0
            for at in range(first, end):
                half[kinds[at]] += 1
                most = max(most, half[kinds[at]])
            fits = 0
            while most > 0:  # rows that are left if no value had more than ``most``
                fits = 0
                for value in range(many):
                    fits += min(half[value], most)
                if fits >= l * most:
                    break
                most -= 1
            fits = fits if most > 0 else 0
            waits += end - first - fits
            bare += fits == 0
    return waits / deals / rows, bare / deals / 2


@kernel
def promises_little(codes, rows, l, waiting, limit, deals):  # noqa: E741
    """Return whether halves of such values, dealt at random, would make few of them wait."""
    counts, _ = _counted(codes, rows)
    for c in range(counts.shape[0]):
        many = 0
        while many < rows.size and counts[c, many] > 0:
            many += 1
        share, bare = expected(counts[c, :many].copy(), l, deals)
        if share > waiting or bare > limit:
            return False
    return True


@kernel
def halve(points, weight, rows):
    """Put the rows nearer to one of two far ones first, in place, as many as half of them.

    Each half keeps its order. Return whether rows differ.
    """
    m = rows.size
    here, there = np.empty(m), np.empty(m)
    one = _farthest(points, weight, rows, 0, here)
    other = _farthest(points, weight, rows, one, here)
    if here[other] == 0:
        return False
    _farthest(points, weight, rows, other, there)
    keys, places = np.empty(m, np.uint64), np.empty(m, np.int32)
    for at in range(m):
        keys[at] = np.uint64((here[at] - there[at] + weight.size) * UNIT)
        places[at] = at
    merge_sort(keys, places)
    near, before, to = np.full(m, False), rows.copy(), 0
    for at in range(m // 2):
        near[places[at]] = True
    for side in range(2):
        for at in range(m):
            if near[at] == (side == 0):
                rows[to] = before[at]
                to += 1
    return True


@kernel
def _farthest(points, weight, rows, one, away):
    """Write the distance of each row from one of them; return the place of the farthest."""
    far = 0
    for at in range(rows.size):
        away[at] = _distance(points, weight, rows[at], rows[one])
        if away[at] > away[far]:
            far = at
    return far


@kernel
def _distance(points, weight, one, other):
    total = 0.0
    for c in range(weight.size):
        total += min(abs(points[one, c] - points[other, c]), weight[c])
    return total


@kernel
def divide(points, weight, codes, rank, rows, starts, l, judged):  # noqa: E741
    """Return the leaf and the cohort of each row, int32[n], each from 0; -1 for who waits.

    rank: uint64[n], the secret order. rows, starts: the rows of each blind leaf, int32[n], int64;
    rows are put in another order. judged: rows of the smallest leaf that is halved, the largest
    expected share that waits and of bare halves, and the number of deals.
    """
    least, waiting, limit, deals = judged
    leaf, cohort = np.full(rank.size, -1, np.int32), np.full(rank.size, -1, np.int32)
    room = rank.size + starts.size
    todo, ends = np.empty(room, np.int64), np.empty(room, np.int64)
    left, leaves, cohorts = starts.size - 1, 0, 0
    for at in range(left):
        todo[at], ends[at] = starts[at], starts[at + 1]
    while left > 0:
        left -= 1
        first, end = todo[left], ends[left]
        own = rows[first:end]
        if (
            own.size >= least
            and promises_little(codes, own, l, waiting, limit, deals)
            and halve(points, weight, own)
        ):
            middle = first + own.size // 2
            todo[left], ends[left] = first, middle
            todo[left + 1], ends[left + 1] = middle, end
            left += 2
            continue
        keys, ordered, most = np.empty(own.size, np.uint64), own.copy(), -1
        for at in range(own.size):
            keys[at] = rank[own[at]]
        merge_sort(keys, ordered)
        found = form(codes, ordered, l)
        for at in range(own.size):
            leaf[ordered[at]] = leaves
            if found[at] >= 0:
                cohort[ordered[at]] = cohorts + found[at]
                most = max(most, found[at])
        cohorts += most + 1
        leaves += 1
    return leaf, cohort


@kernel
def nearest(points, weight, leaf, cohort, rows, starts):
    """Return the cohort of the member nearest to each row that waits, int32[n]; -1 for others.

    rows, starts: the rows of each leaf. The member is of the row's own leaf if that has any, else
    of any leaf; -1 without a member.
    """
    found = np.full(leaf.size, -1, np.int32)
    for row in range(leaf.size):
        if cohort[row] >= 0:
            continue
        least = np.inf
        for turn in range(2):
            if least < np.inf:
                break
            first = starts[leaf[row]] if turn == 0 else 0
            end = starts[leaf[row] + 1] if turn == 0 else leaf.size
            for at in range(first, end):
                if cohort[rows[at]] >= 0:
                    away = _distance(points, weight, row, rows[at])
                    if away < least:
                        least, found[row] = away, cohort[rows[at]]
    return found
