"""Join units, sets of rows that stay together, into classes that lose little information.

A unit is described by its box: of each column the lowest and highest point, whether it holds NULL,
and in a SET column a bit for each code. The loss of a class is that of the union of its boxes.
Arrays: low, high float64[u, d]; null bool[u, d]; mask uint64[u, w], where column c has the words
word[c] … word[c + 1] - 1.
"""

import numpy as np

from anon_sql.kernels.distance import draw
from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss import SET, range_loss, set_loss

HALF = np.uint64(32)
LOW = np.uint64(2**32 - 1)


@kernel
def boxes(points, model, word, starts, rows):
    """Return the boxes of units; unit u has rows[starts[u]] … rows[starts[u + 1] - 1]."""
    many, d = starts.size - 1, points.shape[1]
    low, high = np.full((many, d), np.inf), np.full((many, d), -np.inf)
    null, mask = np.zeros((many, d), np.bool_), np.zeros((many, word[d]), np.uint64)
    for u in range(many):
        for at in range(starts[u], starts[u + 1]):
            for c in range(d):
                value = points[rows[at], c]
                null[u, c] |= value == model.null[c]
                if model.kind[c] == SET:
                    code = np.int64(value)
                    mask[u, word[c] + code // 64] |= np.uint64(1) << np.uint64(code % 64)
                elif value != model.null[c]:
                    low[u, c] = min(low[u, c], value)
                    high[u, c] = max(high[u, c], value)
    return low, high, null, mask


@kernel
def _widen(box, u, low, high, null, mask):
    """Widen one box by that of unit u."""
    for c in range(low.size):
        low[c] = min(low[c], box[0][u, c])
        high[c] = max(high[c], box[1][u, c])
        null[c] |= box[2][u, c]
    for at in range(mask.size):
        mask[at] |= box[3][u, at]


@kernel
def _loss(model, word, low, high, null, mask):
    """Return the NCP of a box, the sum over its columns."""
    total = 0.0
    for c in range(low.size):
        if model.kind[c] == SET:
            distinct = 0
            for at in range(word[c], word[c + 1]):
                bits = mask[at]
                while bits:
                    bits &= bits - np.uint64(1)
                    distinct += 1
            if distinct > 1:
                total += model.weight[c] if null[c] else set_loss(model, c, distinct)
        elif low[c] <= high[c]:
            total += model.weight[c] if null[c] else range_loss(model, c, low[c], high[c])
    return total


@kernel
def place(box, model, word, size, home, count):
    """Give each unit without a class (home -1) the class that grows least; changes home int32[u].

    size: int64[u], the rows that count. count: the number of classes.
    """
    many, d = box[0].shape
    low, high = np.full((count, d), np.inf), np.full((count, d), -np.inf)
    null, mask = np.zeros((count, d), np.bool_), np.zeros((count, box[3].shape[1]), np.uint64)
    total, own = np.zeros(count, np.int64), np.zeros(count)
    for u in range(many):
        at = home[u]
        if at >= 0:
            total[at] += size[u]
            _widen(box, u, low[at], high[at], null[at], mask[at])
    for at in range(count):
        own[at] = _loss(model, word, low[at], high[at], null[at], mask[at])
    lows, highs, nulls, bits = low[0].copy(), high[0].copy(), null[0].copy(), mask[0].copy()
    for u in range(many):
        if home[u] >= 0:
            continue
        best, least = 0, np.inf
        for at in range(count):
            for c in range(d):
                lows[c], highs[c], nulls[c] = low[at, c], high[at, c], null[at, c]
            for w in range(bits.size):
                bits[w] = mask[at, w]
            _widen(box, u, lows, highs, nulls, bits)
            growth = _loss(model, word, lows, highs, nulls, bits) * (total[at] + size[u])
            growth -= own[at] * total[at]
            if growth < least:
                best, least = at, growth
        home[u] = best
        total[best] += size[u]
        _widen(box, u, low[best], high[best], null[best], mask[best])
        own[best] = _loss(model, word, low[best], high[best], null[best], mask[best])


@kernel
def _changed(box, model, word, members, at, many, out, inn):
    """Return the NCP of class ``at`` without unit ``out`` and with unit ``inn``; -1 for neither."""
    d = box[0].shape[1]
    low, high = np.full(d, np.inf), np.full(d, -np.inf)
    null, mask = np.zeros(d, np.bool_), np.zeros(box[3].shape[1], np.uint64)
    for place_ in range(many):
        if members[at, place_] != out:
            _widen(box, members[at, place_], low, high, null, mask)
    if inn >= 0:
        _widen(box, inn, low, high, null, mask)
    return _loss(model, word, low, high, null, mask)


@kernel
def anneal(  # noqa: PLR0915
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
        loss[at] = _changed(box, model, word, members, at, number[at], -1, -1)
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
        mine = _changed(box, model, word, members, here, number[here], one, x)
        theirs = _changed(box, model, word, members, there, number[there], x, one)
        change = mine * left + theirs * right
        change -= loss[here] * total[here] + loss[there] * total[there]
        if change > 0 and change >= limit:
            continue
        if x >= 0:
            members[here, place_[one]], members[there, place_[x]] = x, one
            place_[one], place_[x] = place_[x], place_[one]
            home[x] = here
        else:
            last = members[here, number[here] - 1]
            members[here, place_[one]] = last
            place_[last] = place_[one]
            number[here] -= 1
            members[there, number[there]] = one
            place_[one] = number[there]
            number[there] += 1
        home[one] = there
        total[here], total[there] = left, right
        loss[here], loss[there] = mine, theirs
