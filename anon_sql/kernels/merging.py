"""Merge classes until each satisfies k, l and t.

The class of largest shortfall per row takes in the neighbour of least cost: the increase of |E| *
NCP(E) divided by the decrease of the shortfall of both. Classes are numbered along a curve through
the table, so that neighbours have near numbers. No array is made while a neighbour is looked for.
Source: this project.
"""

import heapq
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.legality import COUNT_MASK, contents, short_of_k, short_of_values, union
from anon_sql.kernels.loss import SET, range_loss, set_loss
from anon_sql.kernels.regrouping import ones
from anon_sql.kernels.sorting import merge_sort, sort_codes

FIRST_NEIGHBOURS = 256  # classes tried first, half of them before the class and half after it
BITS = 64  # most codes of a set that is a mask; others are lists


class Classes(NamedTuple):
    """State of m classes while they merge.

    low, high: float64[m, d], the least and the largest point; 0.0 in a set that has any.
    nulls: int64[m, d], number of NULLs.
    masks: uint64[m, d], sets of columns of at most BITS codes.
    first, end, flat: flat[c, first[c, a] : end[c, a]] is the set of class a in any other column,
        ascending.
    size: int64[m], rows; 0 for a class that was taken in.
    ncp, shortfall: float64[m].
    key_counts, begin, stop: key_counts[b, begin[b, a] : stop[b, a]] are those of class a in
        attribute b (see ``contents``).
    before, after: int64[m], the next class on either side, a class's own number at an end.
    becomes: int64[m], the class that took it in, or its own number.
    used: int64[d + b], length of flat and of key_counts written so far.
    values: int32[…], scratch.
    counts: int64[…], scratch.
    """

    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    nulls: npt.NDArray[np.int64]
    masks: npt.NDArray[np.uint64]
    first: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    flat: npt.NDArray[np.int32]
    size: npt.NDArray[np.int64]
    ncp: npt.NDArray[np.float64]
    shortfall: npt.NDArray[np.float64]
    key_counts: npt.NDArray[np.int64]
    begin: npt.NDArray[np.int64]
    stop: npt.NDArray[np.int64]
    before: npt.NDArray[np.int64]
    after: npt.NDArray[np.int64]
    becomes: npt.NDArray[np.int64]
    used: npt.NDArray[np.int64]
    values: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]


@kernel
def classes_of(points, model, rules, order, starts):
    """Return the state of classes of rows.

    points: float64[n, d], the points of the rows in each column.
    model: ``LossModel``, the meaning of the points.
    rules: ``Rules``, what a class must satisfy besides its number of rows.
    order: int32[n], rows class by class.
    starts: int64[m + 1], where each class begins in ``order``.
    """
    count, columns, kinds = starts.size - 1, points.shape[1], rules.total.size
    long = False
    for column in range(columns):
        long |= is_list(model, column)
    low, high = np.full((count, columns), np.inf), np.full((count, columns), -np.inf)
    nulls, masks = np.zeros((count, columns), np.int64), np.zeros((count, columns), np.uint64)
    first, end = np.zeros((columns, count), np.int64), np.zeros((columns, count), np.int64)
    begin, stop = np.zeros((kinds, count), np.int64), np.zeros((kinds, count), np.int64)
    flat = np.empty((columns, 2 * order.size if long else 0), np.int32)
    key_counts = np.empty((kinds, 2 * order.size), np.int64)
    size, becomes = np.empty(count, np.int64), np.empty(count, np.int64)
    before, after = np.empty(count, np.int64), np.empty(count, np.int64)
    used = np.zeros(columns + kinds, np.int64)
    values, counts = np.empty(order.size, np.int32), np.empty(order.size, np.int64)
    classes = Classes(
        low, high, nulls, masks, first, end, flat, size, np.zeros(count), np.zeros(count),
        key_counts, begin, stop, before, after, becomes, used, values, counts,
    )  # fmt: skip
    for class_id in range(count):
        classes.becomes[class_id], classes.size[class_id] = (
            class_id,
            starts[class_id + 1] - starts[class_id],
        )
        classes.before[class_id], classes.after[class_id] = (
            max(class_id - 1, 0),
            min(class_id + 1, count - 1),
        )
        rows = order[starts[class_id] : starts[class_id + 1]]
        for column in range(columns):
            outline(classes, points, model, class_id, column, rows)
        for attribute in range(kinds):
            content = contents(rules, attribute, rows)
            store = columns + attribute
            put(
                classes.key_counts[attribute],
                classes.begin[attribute],
                classes.stop[attribute],
                classes,
                store,
                class_id,
                content,
            )
        classes.ncp[class_id] = loss_below(classes, model, class_id, class_id, np.inf)
        classes.shortfall[class_id] = shortfall_of(classes, rules, class_id, class_id)
    return classes


@kernel(borrows=True, inlined=True)
def is_list(model, column):
    """Return whether the sets of a column are lists.

    model: ``LossModel``, the meaning of the points.
    column: int, the column, 0 … d - 1.
    """
    return model.kind[column] == SET and model.null[column] > BITS


@kernel
def outline(classes, points, model, class_id, column, rows):
    """Write the values of a class's rows in a column.

    classes: ``Classes``, the state, changed.
    points: float64[n, d], the points of the rows in each column.
    model: ``LossModel``, the meaning of the points.
    class_id: int, the class.
    column: int, the column, 0 … d - 1.
    rows: int32[m], its rows.
    """
    count = 0
    codes = np.empty(rows.size if is_list(model, column) else 0, np.int32)
    for row in rows:
        value = points[row, column]
        if value == model.null[column]:
            classes.nulls[class_id, column] += 1
        elif model.kind[column] != SET:
            classes.low[class_id, column] = min(classes.low[class_id, column], value)
            classes.high[class_id, column] = max(classes.high[class_id, column], value)
        else:
            classes.low[class_id, column] = classes.high[class_id, column] = 0.0
            if codes.size == 0:
                classes.masks[class_id, column] |= np.uint64(1) << np.uint64(value)
            else:
                codes[count] = np.int32(value)
                count += 1
    if count > 0:
        sort_codes(codes[:count])
        size = 1
        for i in range(1, count):
            if codes[i] != codes[i - 1]:
                codes[size] = codes[i]
                size += 1
        put(
            classes.flat[column],
            classes.first[column],
            classes.end[column],
            classes,
            column,
            class_id,
            codes[:size],
        )


@kernel(borrows=True, inlined=True)
def loss_below(classes, model, a, b, limit):
    """Return the NCP, summed over columns, of the union of two classes; infinity from a limit on.

    classes: ``Classes``, the state.
    model: ``LossModel``, the meaning of the points.
    a, b: int, the classes; a == b for one class.
    limit: float64, the NCP from which the exact one does not matter.
    """
    total = 0.0
    for column in range(model.kind.size):
        low = min(classes.low[a, column], classes.low[b, column])
        high = max(classes.high[a, column], classes.high[b, column])
        if classes.nulls[a, column] + classes.nulls[b, column] > 0:
            total += model.weight[column] if low <= high else 0.0
        elif model.kind[column] != SET:
            total += range_loss(model, column, low, high)
        elif is_list(model, column):
            total += set_loss(model, column, codes_in_either(classes, column, a, b))
        else:
            mask = classes.masks[a, column] | classes.masks[b, column]
            total += set_loss(model, column, ones(mask))
        if total >= limit:
            total = np.inf  # what is summed so far may, less rounding, pass for the whole
            break
    return total


@kernel(borrows=True, inlined=True)
def codes_in_either(classes, column, a, b):
    """Return the number of codes in the lists of two classes.

    classes: ``Classes``, the state.
    column: int, the column, 0 … d - 1.
    a, b: int, the classes; a == b for one class.
    """
    i, j, size = classes.first[column, a], classes.first[column, b], 0
    last_i, last_j = classes.end[column, a], classes.end[column, b]
    while i < last_i or j < last_j:
        left = classes.flat[column, i] if i < last_i else np.int32(2**31 - 1)
        right = classes.flat[column, j] if j < last_j else np.int32(2**31 - 1)
        i += left <= right
        j += right <= left
        size += 1
    return size


@kernel(borrows=True, inlined=True)
def shortfall_of(classes, rules, a, b):
    """Return the shortfall of the union of two classes; 0.0 if it is legal.

    classes: ``Classes``, the state.
    rules: ``Rules``, what a class must satisfy besides its number of rows.
    a, b: int, the classes; a == b for one class.
    """
    total = short_of_k(rules, classes.size[a] + (classes.size[b] if b != a else 0))
    for attribute in range(rules.total.size):
        size = fold_both(classes, rules, attribute, a, b)
        total += short_of_values(rules, attribute, classes.values[:size], classes.counts[:size])
    return total


@kernel(borrows=True, inlined=True)
def fold_both(classes, rules, attribute, a, b):
    """Write the values of the union of two classes and their counts; return how many values.

    classes: ``Classes``, whose values and counts are written.
    rules: ``Rules``, what a class must satisfy besides its number of rows.
    attribute: int, the attribute of the rules, 0 … b - 1.
    a, b: int, the classes; a == b for one class.
    """
    size = np.int64(0)
    i, last_i = classes.begin[attribute, a], classes.stop[attribute, a]
    j, last_j = (
        classes.begin[attribute, b],
        classes.stop[attribute, b] if a != b else classes.begin[attribute, b],
    )
    while i < last_i or j < last_j:
        left = classes.key_counts[attribute, i] if i < last_i else np.int64(2**63 - 1)
        right = classes.key_counts[attribute, j] if j < last_j else np.int64(2**63 - 1)
        key, count = min(left >> 32, right >> 32), np.int64(0)
        if left >> 32 == key:
            i, count = i + 1, left & COUNT_MASK
        if right >> 32 == key:
            j, count = (
                j + 1,
                max(count, right & COUNT_MASK) if rules.pairs else count + (right & COUNT_MASK),
            )
        value = rules.value[attribute, key]
        if size > 0 and classes.values[size - 1] == value:
            classes.counts[size - 1] += count
        else:
            classes.values[size], classes.counts[size] = value, count
            size += 1
    return size


@kernel
def merge(classes, model, rules, steps):
    """Merge classes; return how many are left, or 0 if all are legal.

    Ends with one class at worst.

    classes: ``Classes``, the state, changed.
    model: ``LossModel``, the meaning of the points.
    rules: ``Rules``, what a class must satisfy besides its number of rows.
    steps: int, merges at most.
    """
    remaining = 0
    heap = [(0.0, np.int64(-1), 0.0) for _ in range(0)]
    for class_id in range(classes.size.size):
        remaining += classes.size[class_id] > 0
        if classes.size[class_id] > 0 and classes.shortfall[class_id] > 0:
            heap.append(
                (
                    -classes.shortfall[class_id] / classes.size[class_id],
                    np.int64(class_id),
                    classes.shortfall[class_id],
                )
            )
    heapq.heapify(heap)
    while len(heap) > 0 and steps > 0 and remaining > 1:
        _, a, recorded = heapq.heappop(heap)
        if classes.size[a] == 0 or classes.shortfall[a] != recorded:
            continue  # taken in or grown since it was pushed
        absorb(classes, model, rules, a, partner(classes, model, rules, a))
        steps, remaining = steps - 1, remaining - 1
        if classes.shortfall[a] > 0:
            heapq.heappush(heap, (-classes.shortfall[a] / classes.size[a], a, classes.shortfall[a]))
    return remaining if len(heap) > 0 and remaining > 1 else 0


@kernel(borrows=True, inlined=True)
def partner(classes, model, rules, a):
    """Return the class that a class should take in.

    It is the one of least increase of loss per decrease of shortfall; if none decreases the
    shortfall, the one of least increase.

    classes: ``Classes``, the state.
    model: ``LossModel``, the meaning of the points.
    rules: ``Rules``, what a class must satisfy besides its number of rows.
    a: int, the class.
    """
    best_price, best_class, least_increase, cheapest_class = (
        np.inf,
        np.int64(-1),
        np.inf,
        np.int64(-1),
    )
    backward, forward, compared, until = a, a, 0, FIRST_NEIGHBOURS
    while classes.before[backward] != backward or classes.after[forward] != forward:
        if compared >= until and best_class >= 0:
            break
        until *= 2 if compared >= until else 1
        for side in range(2):
            b = classes.before[backward] if side == 0 else classes.after[forward]
            if b == (backward if side == 0 else forward):
                continue
            backward, forward = (b, forward) if side == 0 else (backward, b)
            compared += 1
            size, shortfall_apart = (
                classes.size[a] + classes.size[b],
                classes.shortfall[a] + classes.shortfall[b],
            )
            loss_apart = classes.size[a] * classes.ncp[a] + classes.size[b] * classes.ncp[b]
            limit = (
                best_price * shortfall_apart if best_class >= 0 else np.inf
            )  # even if no shortfall were left
            increase = (
                size * loss_below(classes, model, a, b, (limit + loss_apart) / size) - loss_apart
            )
            if increase >= limit:
                continue
            if increase < least_increase:
                least_increase, cheapest_class = increase, b
            decrease = shortfall_apart - shortfall_of(classes, rules, a, b)
            if decrease > 0 and increase / decrease < best_price:
                best_price, best_class = increase / decrease, b
    return best_class if best_class >= 0 else cheapest_class


@kernel
def absorb(classes, model, rules, a, b):
    """Let a class take in another.

    classes: ``Classes``, the state, changed.
    model: ``LossModel``, the meaning of the points.
    rules: ``Rules``, what a class must satisfy besides its number of rows.
    a: int, the class that grows.
    b: int, the class that is taken in.
    """
    classes.ncp[a] = loss_below(classes, model, a, b, np.inf)
    classes.shortfall[a] = shortfall_of(classes, rules, a, b)
    classes.size[a] += classes.size[b]
    classes.size[b] = 0
    classes.becomes[b] = a
    classes.before[classes.after[b]] = (
        classes.before[b] if classes.before[b] != b else classes.after[b]
    )
    classes.after[classes.before[b]] = (
        classes.after[b] if classes.after[b] != b else classes.before[b]
    )
    columns = classes.low.shape[1]
    for column in range(columns):
        classes.low[a, column] = min(classes.low[a, column], classes.low[b, column])
        classes.high[a, column] = max(classes.high[a, column], classes.high[b, column])
        classes.nulls[a, column] += classes.nulls[b, column]
        classes.masks[a, column] |= classes.masks[b, column]
        if is_list(model, column):
            content = classes.flat[column, classes.first[column, a] : classes.end[column, a]]
            other_content = classes.flat[column, classes.first[column, b] : classes.end[column, b]]
            union_content = united(content, other_content)
            put(
                classes.flat[column],
                classes.first[column],
                classes.end[column],
                classes,
                column,
                a,
                union_content,
            )
    for attribute in range(rules.total.size):
        content = classes.key_counts[
            attribute, classes.begin[attribute, a] : classes.stop[attribute, a]
        ]
        other_content = classes.key_counts[
            attribute, classes.begin[attribute, b] : classes.stop[attribute, b]
        ]
        union_content, store = union(rules, content, other_content), columns + attribute
        put(
            classes.key_counts[attribute],
            classes.begin[attribute],
            classes.stop[attribute],
            classes,
            store,
            a,
            union_content,
        )


@kernel
def united(a, b):
    """Return the codes of either of two sets, int32[…], ascending.

    a, b: int32[…], ascending.
    """
    both, i, j, size = np.empty(a.size + b.size, np.int32), 0, 0, 0
    while i < a.size or j < b.size:
        left = j == b.size or (i < a.size and a[i] <= b[j])
        right = i == a.size or (j < b.size and b[j] <= a[i])
        both[size] = a[i] if left else b[j]
        i, j, size = i + left, j + right, size + 1
    return both[:size]


@kernel
def put(store, first, end, classes, store_id, a, content):
    """Append the content of a class to a store; compact the store if there is no room.

    store: int32[…] or int64[…], one row of ``flat`` or of ``key_counts``, changed.
    first, end: int64[m], where the content of each class is in the store, changed.
    classes: ``Classes``, whose ``used`` is changed.
    store_id: int, index of the store in ``used``.
    a: int, the class.
    content: its codes or key counts.
    """
    if classes.used[store_id] + content.size > store.size:
        free, firsts = 0, np.empty(first.size, np.uint64)
        by_first = np.empty(first.size, np.int32)
        for class_id in range(first.size):
            firsts[class_id], by_first[class_id] = first[class_id], class_id
        merge_sort(firsts, by_first)
        for class_id in by_first:
            if classes.size[class_id] > 0 and class_id != a:
                size = end[class_id] - first[class_id]
                for i in range(size):
                    store[free + i] = store[first[class_id] + i]
                first[class_id], end[class_id] = free, free + size
                free += size
        classes.used[store_id] = free
    first[a] = classes.used[store_id]
    end[a] = first[a] + content.size
    for i in range(content.size):
        store[first[a] + i] = content[i]
    classes.used[store_id] = end[a]
