"""Look up the classes whose labels cover what is known of a person, and their sensitive values."""

import numpy as np

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.label_cover import member


@kernel
def match(codes, known_columns, person_values, labels, sensitive_counts, column_of, matches):
    """Look up each person of a block and write the result.

    Adjacent persons of whom the same is known are looked up once.

    codes: int64[p, q], the values of each person.
    known_columns: int64[p, j], the columns that are known of each person.
    person_values: int64[p, s], the person's sensitive values, -1 for NULL.
    labels: label_of int64[q, m], the label of each class, numbered through all columns; first
        int64[q + 1], those of each column; low, high, start, end int64[l] and flat as
        ``label_cover.covered`` takes them.
    sensitive_counts: sizes int64[m], then starts, values and counts of the sensitive values of each
        class.
    column_of: int64[v], the sensitive column of a value.
    matches: rows int64[p] that match; then, each int64[p, s], the number of distinct values, the
        count of the most frequent one, the number of values of that count, and the count of the
        person's own. Zeros, written.
    """
    sizes, starts, values, counts = sensitive_counts
    rows, distinct_counts, highest_counts, ties, person_counts = matches
    tally, seen = column_of * 0, column_of * 0
    matched, covering = starts[1:] * 0, np.zeros(len(labels[2]), dtype=np.bool_)
    p = 0
    while p < len(codes):
        distinct = 0
        for i in range(_match(codes, known_columns, p, labels, covering, matched)):
            m = matched[i]
            rows[p] += sizes[m]
            for entry in range(starts[m], starts[m + 1]):
                if tally[values[entry]] == 0:
                    seen[distinct] = values[entry]
                    distinct += 1
                tally[values[entry]] += counts[entry]
        for i in range(distinct):
            count, s = tally[seen[i]], column_of[seen[i]]
            distinct_counts[p, s] += 1
            if count > highest_counts[p, s]:
                highest_counts[p, s] = count
                ties[p, s] = 0
            ties[p, s] += count == highest_counts[p, s]
        first = p
        while p < len(codes) and _alike(codes, known_columns, first, p):
            rows[p], distinct_counts[p], highest_counts[p], ties[p] = (
                rows[first],
                distinct_counts[first],
                highest_counts[first],
                ties[first],
            )
            for s in range(person_values.shape[1]):
                if person_values[p, s] >= 0:
                    person_counts[p, s] = tally[person_values[p, s]]
            p += 1
        for i in range(distinct):
            tally[seen[i]] = 0


@kernel
def _match(codes, known_columns, p, labels, covering, matched):
    """Write the classes whose labels cover what is known of a person; return how many.

    A column's labels are looked at once each, unless fewer classes are left.

    codes: int64[p, q], the values of each person.
    known_columns: int64[p, j], the columns that are known of each person.
    p: int, the person.
    labels: (label_of, first, low, high, start, end, flat), as in ``match``.
    covering: bool[l], of each label, scratch.
    matched: int64[m], written.
    """
    label_of, first, low, high, start, end, flat = labels
    class_count = len(matched)
    for m in range(class_count):
        matched[m] = m
    for j in range(known_columns.shape[1]):
        q = known_columns[p, j]
        code, kept = codes[p, q], 0
        by_label = class_count >= first[q + 1] - first[q]
        if by_label:
            for label in range(first[q], first[q + 1]):
                covering[label] = low[label] <= code <= high[label] and member(
                    code, start[label], end[label], flat
                )
        for i in range(class_count):
            m = matched[i]
            label = label_of[q, m]
            if not by_label:
                covering[label] = low[label] <= code <= high[label] and member(
                    code, start[label], end[label], flat
                )
            matched[kept] = m
            kept += covering[label]
        class_count = kept
    return class_count


@kernel
def _alike(codes, known_columns, one, other):
    """Return whether the same is known of two persons.

    codes: int64[p, q], the values of each person.
    known_columns: int64[p, j], the columns that are known of each person.
    one, other: int, the persons.
    """
    for j in range(known_columns.shape[1]):
        q = known_columns[one, j]
        if q != known_columns[other, j] or codes[one, q] != codes[other, q]:
            return False
    return True
