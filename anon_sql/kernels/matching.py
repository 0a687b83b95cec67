"""The classes whose labels cover what is known of a person, and the sensitive values in them."""

from numba import njit


@njit(cache=True, nogil=True)
def covers(code, low, high, at, sets):
    """Whether a label covers a code: between its ends, and in its set where it has one."""
    if code < low or code > high:
        return False
    return at < 0 or (sets[at + (code >> 6)] >> (code & 63)) & 1 == 1


@njit(cache=True, nogil=True)
def match(codes, known, own, low, high, at, sets, held, column_of, found):
    """Look up each person of a block.

    codes int32[p, q]; known int64[p, j]: the columns that are known of each; own int64[p, s]:
    sensitive values, -1 for NULL. low, high int32[m, q], at int64[m, q], sets uint64: the labels
    (``attacks.covering``). held: sizes int64[m], then starts, values and counts of the sensitive
    values of each class; column_of int64[v]: the sensitive column of a value.

    found: rows int64[p] that match, then of each sensitive column int64[p, s]: how many values
    they have, how often the most frequent one, how many are as frequent, how often the person's.
    """
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
                if not covers(codes[p, q], low[m, q], high[m, q], at[m, q], sets):
                    hit = False
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
