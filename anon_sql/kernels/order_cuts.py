"""Cut an order of rows into groups of k to 2k - 1 at the least loss, by dynamic programming.

Order rows greedily within a window, each near the rows just before it. Of the next rows of a given
order the one is taken that widens two boxes least: that of the last few rows and that of the last
many. Source: this project, after k-member (Byun et al. 2007), which grows a group by the row of
least increase; here groups are cut afterwards.

Compute the NCP of every run of adjacent rows that may be a class, for many first rows at once. A
run starts at a *unit* and is ``per_k`` to ``2 * per_k - 1`` units long. A unit is a row; where k
exceeds EXACT it is k / UNITS rows, so that time and memory do not grow with k.

Each loop runs over adjacent starts and contiguous slices, so that the compiler vectorizes it. The
size of a set needs no set: a run of s units from u gains a new value in its last unit if and only
if that value last occurred s units or more before.

Source: Ghinita et al. 2007, section 4 (one quasi-identifier, after the optimal univariate
microaggregation of Hansen and Mukherjee 2003). Departure: the loss is NCP over all columns.
"""

import numpy as np

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss import NUMBER, SET, range_loss

AWAY = 2.0  # times the weight: NULL in a NUMBER or TREE column, at least a weight from any value


@kernel
def moving_window(points, rows, model, width, few, many):
    """Return rows int32[m] in a better order, int32[m].

    points: float64[n, d]. width: number of candidates. few <= many: rows in each of the two boxes.
    Ties go to the lower position; the next row takes the position of the one that was chosen.
    """
    m = rows.size
    w = min(width, m)
    ranges, sets = columns_of(model.kind)
    values, miss = np.empty((ranges.size, w), np.float32), np.empty((sets.size, w), np.float32)
    codes, scores = np.empty((sets.size, w), np.int32), np.empty(w, np.float32)
    recent, seen = np.empty((ranges.size, many), np.float32), np.empty((sets.size, many), np.int32)
    box = np.empty((ranges.size, 4), np.float32)  # low and high of few, low and high of many
    first = np.zeros(sets.size + 1, np.int64)
    for c in range(sets.size):
        first[c + 1] = first[c] + np.int64(model.null[sets[c]]) + 1
    counts, size = np.zeros((2, first[-1]), np.int64), np.zeros((2, sets.size), np.int64)
    candidates = values, codes, miss
    ids, order = rows[:w].copy(), np.empty(m, np.int32)
    for j in range(w):
        load(points, ids[j], model, ranges, sets, candidates, j, counts, first)
    loaded = w
    for at in range(m):
        j = choose(candidates, box, size, sets, model, scores[:w]) if at > 0 else 0
        order[at] = ids[j]
        for c in range(ranges.size):
            move_box(box[c], recent[c], values[c, j], at, few, many)
        for c in range(sets.size):
            new, offset = codes[c, j], first[c]
            for which, memory in ((0, few), (1, many)):
                old = seen[c, (at - memory) % many] if at >= memory else np.int32(-1)
                if old == new:
                    continue
                if old >= 0:
                    counts[which, offset + old] -= 1
                    if counts[which, offset + old] == 0:
                        size[which, c] -= 1
                        mark(codes[c, :w], old, np.float32(which + 1), miss[c, :w])
                counts[which, offset + new] += 1
                if counts[which, offset + new] == 1:
                    size[which, c] += 1
                    mark(codes[c, :w], new, np.float32(0), miss[c, :w])
            seen[c, at % many] = new
        if loaded < m:
            ids[j] = rows[loaded]
            load(points, ids[j], model, ranges, sets, candidates, j, counts, first)
            loaded += 1
        else:
            w -= 1
            ids[j] = ids[w]
            replace_candidate(candidates, j, w)
    return order


@kernel
def columns_of(kind):
    """Return the columns that are not sets, and those that are, int64[…]; kind: int64[d]."""
    ranges, sets = np.empty(kind.size, np.int64), np.empty(kind.size, np.int64)
    r = s = 0
    for c in range(kind.size):
        if kind[c] == SET:
            sets[s] = c
            s += 1
        else:
            ranges[r] = c
            r += 1
    return ranges[:r], sets[:s]


@kernel
def load(points, row, model, ranges, sets, candidates, j, counts, first):
    """Make a row the candidate of position j; miss: the number of boxes that lack its value."""
    values, codes, miss = candidates
    for c in range(ranges.size):
        column = ranges[c]
        value, weight = points[row, column], model.weight[column]
        if value == model.null[column]:
            value = AWAY * weight
        elif model.kind[column] != NUMBER:
            value = value * weight / max(model.null[column], 1.0)
        values[c, j] = np.float32(value)
    for c in range(sets.size):
        code = np.int32(points[row, sets[c]])
        codes[c, j] = code
        miss[c, j] = (counts[0, first[c] + code] == 0) + (counts[1, first[c] + code] == 0)


@kernel
def replace_candidate(candidates, j, last):
    """Make the candidate of the last position that of position j."""
    values, codes, miss = candidates
    for c in range(values.shape[0]):
        values[c, j] = values[c, last]
    for c in range(codes.shape[0]):
        codes[c, j], miss[c, j] = codes[c, last], miss[c, last]


@kernel
def move_box(box, recent, value, at, few, many):
    """Add a value to both boxes of a column and remove the oldest.

    box: float32[4]; recent: float32[many], the last values.
    """
    for which, memory in ((0, few), (1, many)):
        low, high = 2 * which, 2 * which + 1
        if at == 0:
            box[low], box[high] = value, value
            continue
        if at >= memory:
            old = recent[(at - memory) % many]
            if old <= box[low] or old >= box[high]:
                box[low], box[high] = value, value
                for back in range(1, memory):
                    past = recent[(at - back) % many]
                    box[low], box[high] = min(box[low], past), max(box[high], past)
                continue
        box[low], box[high] = min(box[low], value), max(box[high], value)
    recent[at % many] = value


@kernel
def mark(codes, code, weight, miss):
    """Set the weight of the candidates that hold a code; codes int32[w], miss float32[w]."""
    for j in range(codes.size):
        miss[j] = weight if codes[j] == code else miss[j]


@kernel
def choose(candidates, box, size, sets, model, scores):
    """Return the position of the candidate that widens the boxes least; scores: float32[w]."""
    values, _, miss = candidates
    zero, one, w = np.float32(0), np.float32(1), scores.size
    for j in range(w):
        scores[j] = zero
    for c in range(values.shape[0]):
        x = values[c]
        a, b, further_a, further_b = box[c, 0], box[c, 1], box[c, 2], box[c, 3]
        for j in range(w):
            below, above = a - x[j], x[j] - b
            near = below if below > above else above
            below, above = further_a - x[j], x[j] - further_b
            far = below if below > above else above
            scores[j] += (near if near > zero else zero) + (far if far > zero else zero)
    for c in range(miss.shape[0]):
        missing, values_of, weight = miss[c], model.values[sets[c]], model.weight[sets[c]]
        near = np.float32((2 if size[0, c] == 1 else 1) * weight / values_of)
        far = np.float32((2 if size[1, c] == 1 else 1) * weight / values_of)
        for j in range(w):
            part = near if missing[j] > zero else zero
            scores[j] += part + far if missing[j] > one else part
    return least(scores)


@kernel(fastmath={"nnan", "nsz"})
def least(scores):
    """Return the first position of the least of float32[w].

    Without NaN the order in which minima are taken does not matter.
    """
    best = scores[0]
    for j in range(scores.size):
        best = scores[j] if scores[j] < best else best
    for j in range(scores.size):
        if scores[j] == best:
            return j
    return 0


EXACT = 512  # largest k for which a unit is a row
UNITS = 128  # units in k rows, where k is larger
FAR = np.float32(1e9)  # NULL of a TREE column, beyond all leaves; a value without predecessor


@kernel
def unit_begins(rows, k, per_k):
    """Return the first row of each unit, int64[units + 1].

    Any ``per_k`` adjacent units have at least k rows. The last unit takes the remaining rows.
    """
    units = rows * per_k // k
    begins = np.empty(units + 1, np.int64)
    for u in range(units):
        begins[u] = u * k // per_k
    begins[units] = rows
    return begins


@kernel
def outlines(points, rows, model, begins, padding):
    """Return the smallest and largest point of each unit in each column.

    Returns low and high, float32[d, units + padding]. points: float64[n, d]; rows: int32[m], in the
    order that is cut. NULL in a NUMBER column stays 3, which makes any range the widest; NULL in
    other columns is FAR. ``padding`` zeros follow.
    """
    columns, units = points.shape[1], begins.size - 1
    low = np.zeros((columns, units + padding), np.float32)
    high = np.zeros((columns, units + padding), np.float32)
    far = model.null.copy()
    for c in range(columns):
        if model.kind[c] == NUMBER:
            far[c] = np.inf
    for u in range(units):
        for at in range(begins[u], begins[u + 1]):
            row = rows[at]
            for c in range(columns):
                value = FAR if points[row, c] == far[c] else np.float32(points[row, c])
                if at == begins[u]:
                    low[c, u], high[c, u] = value, value
                else:
                    low[c, u], high[c, u] = min(low[c, u], value), max(high[c, u], value)
    return low, high


@kernel
def last_seen(codes, null_code, units):
    """Return how many rows back each code occurred before, float32 like codes.

    FAR is the code of NULL.
    """
    back = np.zeros(codes.size, np.float32)
    last = np.full(null_code + 1, -(2**40), np.int64)
    for at in range(units):
        code = null_code if codes[at] == FAR else np.int64(codes[at])
        back[at] = min(at - last[code], 2**30)
        last[code] = at
    return back


@kernel
def fresh_counts(codes, rows, null_code, begins, per_k):
    """Return at [s - 1, u] the number of values of unit u that the s - 1 units before it lack.

    codes: float64[n]. Returns float32[2 * per_k, units + 2 * per_k].
    """
    units = begins.size - 1
    counts = np.zeros((2 * per_k, units + 2 * per_k), np.float32)
    last = np.full(null_code + 1, -(2**40), np.int64)
    for u in range(units):
        for at in range(begins[u], begins[u + 1]):
            code = np.int64(codes[rows[at]])
            back = min(u - last[code], 2 * per_k)
            last[code] = u
            if back > 0:
                counts[back - 1, u] += 1
    for s in range(2 * per_k - 2, -1, -1):
        for u in range(units):
            counts[s, u] += counts[s + 1, u]
    return counts


@kernel
def add_range(low, high, per_k, model, column, out):
    """Add the loss of a NUMBER or TREE column to ``out``, float32[per_k, starts].

    low, high: float32[starts + 2 * per_k].
    """
    starts, full = out.shape[1], np.float32(model.weight[column])
    least, most = low[: starts + per_k].copy(), high[: starts + per_k].copy()
    size, length = 1, starts + per_k
    while size < per_k:  # double the windows' size up to per_k
        step = min(size, per_k - size)
        length -= step
        near, far = least.copy(), most.copy()
        next_low, next_high = near[step:], far[step:]
        for i in range(length):
            least[i] = near[i] if near[i] < next_low[i] else next_low[i]
            most[i] = far[i] if far[i] > next_high[i] else next_high[i]
        size += step
    for extra in range(per_k):
        if extra > 0:
            next_low, next_high = low[per_k + extra - 1 :], high[per_k + extra - 1 :]
            for i in range(starts):
                least[i] = least[i] if least[i] < next_low[i] else next_low[i]
                most[i] = most[i] if most[i] > next_high[i] else next_high[i]
        total = out[extra]
        if model.kind[column] == NUMBER:
            for i in range(starts):
                width = most[i] - least[i]
                total[i] += width if width < full else full
        else:
            for i in range(starts):
                if most[i] < FAR:
                    first, last = np.float64(least[i]), np.float64(most[i])
                    total[i] += np.float32(range_loss(model, column, first, last))
                elif least[i] < FAR:
                    total[i] += full


@kernel
def add_set(back, counts, first, high, per_k, model, column, out):
    """Add the loss of a SET column to ``out``, float32[per_k, starts].

    back: from ``last_seen``; high: float32[starts + 2 * per_k]. counts: from ``fresh_counts``, read
    from unit ``first`` on, or empty where a unit is a row.
    """
    starts, zero, one = out.shape[1], np.float32(0), np.float32(1)
    size, most = np.zeros(starts, np.float32), high[:starts].copy()
    full = np.float32(model.weight[column])
    share = np.float32(model.weight[column] / model.values[column])
    nulls = False
    for i in range(high.size):
        nulls |= high[i] == FAR
    for units in range(1, 2 * per_k):
        if counts.shape[0] == 0:
            gap, enough = back[units - 1 :], np.float32(units)
            for i in range(starts):
                size[i] += one if gap[i] >= enough else zero
        else:
            new = counts[units - 1, first + units - 1 :]
            for i in range(starts):
                size[i] += new[i]
        if nulls:
            more = high[units - 1 :]
            for i in range(starts):
                most[i] = most[i] if most[i] > more[i] else more[i]
        if units < per_k:
            continue
        total = out[units - per_k]
        for i in range(starts):
            part = full if nulls and most[i] == FAR else size[i] * share
            total[i] += part if size[i] > one else zero


STARTS = 1 << 15  # costs in a block: first rows times lengths


NO_PRICES = np.zeros((0, 0), np.float32)


@kernel
def optimal_groups(points, rows, model, k, prices):
    """Return where each group begins, int64[groups + 1], and the least sum of |E| * NCP(E).

    points: float64[n, d]; rows: int32[m], in the order that is cut, m >= k. In the sum |E| is
    counted in units (see ``interval_loss``). Where k exceeds EXACT only every (k / UNITS)-th
    boundary is tried. prices: what is added to the NCP of each run, from ``shortfall_prices``;
    NO_PRICES for nothing.
    """
    columns, per_k = points.shape[1], k if k <= EXACT else UNITS
    begins = unit_begins(rows.size, k, per_k)
    units = begins.size - 1
    low, high = outlines(points, rows, model, begins, 2 * per_k)
    counts = [np.zeros((0, 0), np.float32) for _ in range(columns)]
    for c in range(columns):
        if model.kind[c] == SET and per_k == k:
            back = last_seen(low[c], np.int64(model.null[c]), units)
            for unit in range(units):
                low[c, unit] = back[unit]
        elif model.kind[c] == SET:
            counts[c] = fresh_counts(points[:, c], rows, np.int64(model.null[c]), begins, per_k)
    best = np.full(units + 2 * per_k, np.inf)
    chosen = np.zeros(units + 2 * per_k, np.int32)
    best[0] = 0.0
    block = max(per_k, STARTS // per_k)
    for a in range(0, units, block):
        b = min(a + block, units)
        losses = np.zeros((per_k, b - a), np.float32)
        for c in range(columns):
            x, y = low[c, a : b + 2 * per_k], high[c, a : b + 2 * per_k]
            if model.kind[c] == SET:
                add_set(x, counts[c], a, y, per_k, model, c, losses)
            else:
                add_range(x, y, per_k, model, c, losses)
        for extra in range(prices.shape[0]):
            for i in range(b - a):
                losses[extra, i] += prices[extra, a + i]
        longest = units - 2 * per_k + 1
        if (
            a <= longest < b and rows.size - begins[longest] >= 2 * k
        ):  # the last unit is a larger one
            losses[per_k - 1, longest - a] = np.inf
        extend(best, chosen, losses, a, b, per_k)
    return groups_back(chosen, begins, units), best[units]


@kernel
def extend(best, chosen, losses, a, b, per_k):
    """Carry the least cost from the starts a … b - 1 to the ends of their groups.

    No group is shorter than per_k, so that per_k starts are final at a time.
    """
    for first in range(a, b, per_k):
        count = min(per_k, b - first)
        base = best[first : first + count]
        for extra in range(per_k):
            length = per_k + extra
            ends, choice = best[first + length :], chosen[first + length :]
            loss = losses[extra, first - a :]
            weight = np.float64(length)
            for i in range(count):
                cost = base[i] + weight * loss[i]
                better = cost < ends[i]
                ends[i] = cost if better else ends[i]
                choice[i] = length if better else choice[i]


@kernel
def groups_back(chosen, begins, units):
    """Return the first row of each group, from the length of the last group up to each place."""
    count, at = 0, units
    while at > 0:
        at -= chosen[at]
        count += 1
    starts = np.empty(count + 1, np.int64)
    at = units
    for group in range(count, -1, -1):
        starts[group] = begins[at]
        at -= chosen[at]
    return starts


APART = 4  # chosen on Adult from 1 to 10; higher values put large subtrees further apart


@kernel
def leaf_places(model, column):
    """Return ascending places of the leaves of a TREE column, float64[leaves], in [0, leaves).

    The gap between two neighbours is the loss of a class that holds both, to the power of APART, so
    that an order by short ranges keeps small subtrees together.
    """
    leaves, base = np.int64(model.null[column]), model.base[column]
    places = np.zeros(leaves)
    for leaf in range(leaves - 1):
        node = leaf
        while model.last[base + node] <= leaf:
            node = model.parent[base + node]
        places[leaf + 1] = places[leaf] + model.share[base + node] ** APART
    if leaves > 1:
        places *= (leaves - 0.5) / places[-1]
    return places
