"""Look up the classes whose labels cover what is known of a person, and their sensitive values."""

import numpy as np

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.matching import member


@kernel
def match(codes, known, own, labels, sensitive_counts, column_of, found):
    """Look up each person of a block and write the result to ``found``.

    codes: int64[p, q]. known: int64[p, j], the columns that are known of each person; persons one
    after the other of whom the same is known are looked up once. own: int64[p, s], the person's
    sensitive values, -1 for NULL. labels: label_of int64[q, m], the label of each class, numbered
    through all columns; first int64[q + 1], those of each column; low, high, start, end int64[l]
    and flat as ``matching.covered`` takes them. sensitive_counts: sizes int64[m], then starts,
    values and counts of the sensitive values of each class. column_of: int64[v], the sensitive
    column of a value.

    found: rows int64[p] that match; then, each int64[p, s], the number of distinct values, the
    count of the most frequent one, the number of values of that count, and the count of the
    person's own. It holds zeros.
    """
    sizes, starts, values, counts = sensitive_counts
    rows, varied, most, ties, mine = found
    tally, seen = column_of * 0, column_of * 0
    matched, covering = starts[1:] * 0, np.zeros(len(labels[2]), dtype=np.bool_)
    p = 0
    while p < len(codes):
        distinct = 0
        for at in range(_match(codes, known, p, labels, covering, matched)):
            m = matched[at]
            rows[p] += sizes[m]
            for e in range(starts[m], starts[m + 1]):
                if tally[values[e]] == 0:
                    seen[distinct] = values[e]
                    distinct += 1
                tally[values[e]] += counts[e]
        for at in range(distinct):
            count, s = tally[seen[at]], column_of[seen[at]]
            varied[p, s] += 1
            if count > most[p, s]:
                most[p, s] = count
                ties[p, s] = 0
            ties[p, s] += count == most[p, s]
        first = p
        while p < len(codes) and _alike(codes, known, first, p):
            rows[p], varied[p], most[p], ties[p] = (
                rows[first],
                varied[first],
                most[first],
                ties[first],
            )
            for s in range(own.shape[1]):
                if own[p, s] >= 0:
                    mine[p, s] = tally[own[p, s]]
            p += 1
        for at in range(distinct):
            tally[seen[at]] = 0


@kernel
def _match(codes, known, p, labels, covering, matched):
    """Write the classes whose labels cover what is known of a person; return how many.

    covering: bool[l], of each label, to write on. A column's labels are looked at once each, unless
    fewer classes are left.
    """
    label_of, first, low, high, start, end, flat = labels
    many = len(matched)
    for m in range(many):
        matched[m] = m
    for j in range(known.shape[1]):
        q = known[p, j]
        code, kept = codes[p, q], 0
        every = many >= first[q + 1] - first[q]
        if every:
            for label in range(first[q], first[q + 1]):
                covering[label] = low[label] <= code <= high[label] and member(
                    code, start[label], end[label], flat
                )
        for at in range(many):
            m = matched[at]
            label = label_of[q, m]
            if not every:
                covering[label] = low[label] <= code <= high[label] and member(
                    code, start[label], end[label], flat
                )
            matched[kept] = m
            kept += covering[label]
        many = kept
    return many


@kernel
def _alike(codes, known, one, other):
    """Return whether the same is known of two persons."""
    for j in range(known.shape[1]):
        q = known[one, j]
        if q != known[other, j] or codes[one, q] != codes[other, q]:
            return False
    return True
