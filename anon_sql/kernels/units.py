"""Join units, sets of rows that stay together, into classes that lose little information.

A unit is described by its box: of each column the lowest and highest point, and in a SET column a
bit for each code. NULL in another column is a highest point of infinity; then the lowest one is
infinite, too, if there is nothing but NULL. The loss of a class is that of the union of its boxes.
Arrays: low, high float64[u, d]; mask uint64[u, w], where column c has the words word[c] …
word[c + 1] - 1.
"""

import numpy as np

from anon_sql.kernels.distance import draw
from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss import SET, range_loss, set_loss

HALF = np.uint64(32)
LOW = np.uint64(2**32 - 1)
PAIRS, FOURS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
EIGHTS, ONES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


@kernel
def boxes(points, model, word, starts, rows):
    """Return the boxes of units; unit u has rows[starts[u]] … rows[starts[u + 1] - 1]."""
    many, d = starts.size - 1, points.shape[1]
    low, high = np.full((many, d), np.inf), np.full((many, d), -np.inf)
    mask = np.zeros((many, word[d]), np.uint64)
    for u in range(many):
        for at in range(starts[u], starts[u + 1]):
            for c in range(d):
                value = points[rows[at], c]
                if model.kind[c] == SET:
                    code = np.int64(value)
                    mask[u, word[c] + code // 64] |= np.uint64(1) << np.uint64(code % 64)
                elif value == model.null[c]:
                    high[u, c] = np.inf
                else:
                    low[u, c] = min(low[u, c], value)
                    high[u, c] = max(high[u, c], value)
    return low, high, mask


@kernel
def _ones(bits):
    """Return the number of ones in a word."""
    bits -= (bits >> np.uint64(1)) & PAIRS
    bits = (bits & FOURS) + ((bits >> np.uint64(2)) & FOURS)
    bits = (bits + (bits >> np.uint64(4))) & EIGHTS
    return np.int64((bits * ONES) >> np.uint64(56))


@kernel
def _loss(model, word, box, units, many):
    """Return the NCP of the first ``many`` of some units together, the sum over the columns."""
    lows, highs, mask = box
    total = 0.0
    for c in range(lows.shape[1]):
        if model.kind[c] == SET:
            distinct, null = 0, np.uint64(model.null[c])
            hidden = word[c] + np.int64(null >> np.uint64(6))
            seen = False
            for w in range(word[c], word[c + 1]):
                bits = np.uint64(0)
                for at in range(many):
                    bits |= mask[units[at], w]
                distinct += _ones(bits)
                if w == hidden:
                    seen = (bits >> (null & np.uint64(63))) & np.uint64(1) != np.uint64(0)
            if distinct > 1:
                total += model.weight[c] if seen else set_loss(model, c, distinct)
            continue
        low, high = np.inf, -np.inf
        for at in range(many):
            low, high = min(low, lows[units[at], c]), max(high, highs[units[at], c])
        if high < np.inf:
            total += range_loss(model, c, low, high)
        elif low < np.inf:
            total += model.weight[c]
    return total


@kernel
def _widen(box, at, wider, u):
    """Widen a box by that of unit u of others."""
    for c in range(box[0].shape[1]):
        box[0][at, c] = min(box[0][at, c], wider[0][u, c])
        box[1][at, c] = max(box[1][at, c], wider[1][u, c])
    for w in range(box[2].shape[1]):
        box[2][at, w] |= wider[2][u, w]


@kernel
def place(box, model, word, size, home, count):
    """Give each unit without a class (home -1) the class that grows least; changes home int32[u].

    size: int64[u], the rows that count. count: the number of classes.
    """
    many, d = box[0].shape
    low, high = np.full((count + 1, d), np.inf), np.full((count + 1, d), -np.inf)
    mask = np.zeros((count + 1, box[2].shape[1]), np.uint64)
    whole, one = (low, high, mask), np.zeros(1, np.int32)
    total, own = np.zeros(count, np.int64), np.zeros(count)
    for u in range(many):
        if home[u] >= 0:
            total[home[u]] += size[u]
            _widen(whole, home[u], box, u)
    for at in range(count):
        one[0] = at
        own[at] = _loss(model, word, whole, one, 1)
    one[0] = count  # the last box is scratch
    for u in range(many):
        if home[u] >= 0:
            continue
        best, least = 0, np.inf
        for at in range(count):
            low[count], high[count], mask[count] = np.inf, -np.inf, np.uint64(0)
            _widen(whole, count, whole, at)
            _widen(whole, count, box, u)
            growth = _loss(model, word, whole, one, 1) * (total[at] + size[u])
            growth -= own[at] * total[at]
            if growth < least:
                best, least = at, growth
        home[u] = best
        total[best] += size[u]
        _widen(whole, best, box, u)
        one[0] = best
        own[best] = _loss(model, word, whole, one, 1)
        one[0] = count


@kernel
def anneal(  # noqa: PLR0912, PLR0915
    box, model, word, size, home, count, k, near, proposals, hot, cold, seed
):
    """Move and exchange units between classes, by simulated annealing; changes home int32[u].

    near: int32[u, …], units near each unit. Classes keep at least k rows that count. hot, cold:
    first and last temperature, in rows times NCP.
    """
    many = home.size
    number, total = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for u in range(many):
        number[home[u]] += 1
        total[home[u]] += size[u]
    room = 2 * number.max() + 8
    members, place_ = np.full((count, room), -1, np.int32), np.zeros(many, np.int64)
    number[:] = 0
    for u in range(many):
        at = home[u]
        members[at, number[at]] = u
        place_[u] = number[at]
        number[at] += 1
    loss = np.zeros(count)
    for at in range(count):
        loss[at] = _loss(model, word, box, members[at], number[at])
    heat, cooling = hot, (cold / hot) ** (1.0 / max(proposals, 1))
    for step in range(proposals):
        heat *= cooling
        bits = draw(seed, np.uint64(2 * step))
        one = np.int64(((bits & LOW) * np.uint64(many)) >> HALF)
        like = near[one, np.int64((bits >> HALF) % np.uint64(near.shape[1]))]
        if like < 0 or home[like] == home[one]:
            continue
        here, there = home[one], home[like]
        bits = draw(seed, np.uint64(2 * step + 1))
        limit = -heat * np.log((np.float64(bits >> HALF) + 0.5) / 4294967296.0)
        x = np.int64(-1)
        if (
            total[here] - size[one] < k
            or number[there] == room
            or bits & np.uint64(3) == np.uint64(0)
        ):
            x = members[there, np.int64((bits & LOW) % np.uint64(number[there]))]
        back = size[x] if x >= 0 else 0
        left, right = total[here] - size[one] + back, total[there] + size[one] - back
        if left < k or right < k:
            continue
        # the exchange is made, judged, and taken back unless it is accepted
        last = number[here] - 1
        if x >= 0:
            members[here, place_[one]], members[there, place_[x]] = x, one
        else:
            members[here, place_[one]] = members[here, last]
            members[there, number[there]] = one
        mine = _loss(model, word, box, members[here], last + (x >= 0))
        change = mine * left - loss[here] * total[here] - loss[there] * total[there]
        theirs = 0.0
        if change < limit:
            theirs = _loss(model, word, box, members[there], number[there] + (x < 0))
            change += theirs * right
        if change >= limit:
            if x >= 0:
                members[there, place_[x]] = x
            else:
                members[here, last] = members[here, place_[one]]
            members[here, place_[one]] = one
            continue
        if x >= 0:
            place_[one], place_[x] = place_[x], place_[one]
            home[x] = here
        else:
            place_[members[here, place_[one]]] = place_[one]
            number[here] = last
            place_[one] = number[there]
            number[there] += 1
        home[one] = there
        total[here], total[there] = left, right
        loss[here], loss[there] = mine, theirs
