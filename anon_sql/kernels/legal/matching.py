"""Find the classes whose labels match what is known of a person, and their sensitive values."""

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.legal.label_cover import member


@kernel
def match(codes, known, own, labels, held, column_of, found):
    """Look up each person of a block and add the result to ``found``.

    codes: int64[p, q]. known: int64[p, j], the columns that are known of each person. own: int64[p,
    s], the person's sensitive values, -1 for NULL. labels: as in ``label_cover.covered``. held:
    sizes int64[m], then starts, values and counts of the sensitive values of each class. column_of:
    int64[v], the sensitive column of a value.

    found: rows int64[p] that match; then, each int64[p, s], the number of distinct values, the
    count of the most frequent one, the number of values of that count, and the count of the
    person's own.
    """
    low, high, start, end, flat = labels
    sizes, starts, values, counts = held
    rows, varied, most, ties, mine = found
    tally = column_of * 0
    matched = starts[1:] * 0
    for p in range(len(codes)):
        many = 0
        for m in range(len(sizes)):
            hit = True
            for j in range(known.shape[1]):
                q = known[p, j]
                code = codes[p, q]
                hit = low[m, q] <= code <= high[m, q] and member(code, start[m, q], end[m, q], flat)
                if not hit:
                    break
            if hit:
                matched[many] = m
                many += 1
                rows[p] += sizes[m]
                for e in range(starts[m], starts[m + 1]):
                    tally[values[e]] += counts[e]
        for s in range(own.shape[1]):
            if own[p, s] >= 0:
                mine[p, s] = tally[own[p, s]]
        for found_at in range(many):
            m = matched[found_at]
            for e in range(starts[m], starts[m + 1]):
                count, s = tally[values[e]], column_of[values[e]]
                tally[values[e]] = 0  # so that the next class does not count it again
                if count == 0:
                    continue
                varied[p, s] += 1
                if count > most[p, s]:
                    most[p, s] = count
                    ties[p, s] = 0
                ties[p, s] += count == most[p, s]
