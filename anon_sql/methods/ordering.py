"""Order rows so that near ones are together, and cut the order: the two halves of ``anonymize``.

Jobs are divided at fixed positions, so that the result does not depend on the number of threads.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql import kernels
from anon_sql.core.running import Workers
from anon_sql.core.table import QuasiTable

JOB_ROWS = 1 << 16
CHUNK_ROWS = 1 << 14  # that are grouped by themselves, plus a remainder of less than a group
MIN_CHUNK_GROUPS = 8  # if k is large
KEY_BITS = 63
MAX_LEADING_VALUES = 8  # of a column that comes before all others in the order
WINDOW_ROWS = (192, 4096)  # of the moving window, least and most
AIMED_COMPARISONS = 3 << 26  # of 'good': rows times candidates
SHORTFALL_PRICE = 0.04  # of a shortfall of 1 in a group, in units of what a row can lose
MAX_COUNTED_VALUES = 1 << 10  # that are counted for a row
FEW_SHARE, MANY_SHARE = 0.2, 0.7  # of k: rows in the boxes of the moving window

Order = npt.NDArray[np.int32]


def pieces(rows: int, size: int) -> list[tuple[int, int]]:
    """Return ranges of ``size`` rows; the last includes the remainder."""
    cuts = [*range(0, max(rows // size, 1) * size, size), rows]
    return list(pairwise(cuts))


def spread(table: QuasiTable) -> npt.NDArray[np.float64]:
    """Return the points with the leaves of hierarchies placed apart by the loss of mixing them."""
    trees = np.flatnonzero(table.model.kind == kernels.loss.TREE)
    if len(trees) == 0:
        return table.points
    points = table.points.copy()
    for column in trees:
        places = np.append(
            kernels.order_cuts.leaf_places(table.model, column), table.model.null[column]
        )
        points[:, column] = places[points[:, column].astype(np.int64)]
    return points


def curve_order(table: QuasiTable, workers: Workers) -> Order:
    """Return rows along a curve through the columns, int32[n]; equal keys in canonical order.

    Columns of at most MAX_LEADING_VALUES values come first, in reflected Gray order, the one of
    fewest values slowest, since a class that mixes two of its values loses most; a column of less
    weight counts as one of more values. The other columns follow on a Hilbert curve, which is
    reversed wherever the Gray key is odd; a column of less weight has fewer cells there. A column
    for which no bit is left does not count.
    """
    points, model, n = spread(table), table.model, table.rows
    columns = range(points.shape[1])
    sets = [c for c in columns if model.kind[c] == kernels.loss.SET]
    without_sets = [c for c in columns if model.kind[c] != kernels.loss.SET]
    jobs: list[Any] = [(points, c, int(model.null[c]) + 1) for c in sets]
    counts = dict(
        zip(sets, workers.map(kernels.orders.counts_of, jobs, [n] * len(jobs)), strict=True)
    )
    jobs = [(points, c, model.null[c], MAX_LEADING_VALUES - 1) for c in without_sets]
    value_lists = workers.map(kernels.orders.few_values, jobs, [n] * len(jobs))
    few_points = {
        c: values for c, values in zip(without_sets, value_lists, strict=True) if len(values)
    }
    # one more for NULL, whether there is one or not
    radix = {
        c: int(model.values[c]) if c in counts else len(few_points[c]) + 1
        for c in [*sets, *few_points]
    }
    cost = {c: radix[c] / w if (w := model.weight[c]) else np.inf for c in radix}
    leading: list[int] = []
    bits_left = KEY_BITS
    for c in sorted(radix, key=lambda c: (cost[c], c)):
        bits = radix[c].bit_length()
        if (
            radix[c] > 1
            and cost[c] <= MAX_LEADING_VALUES
            and bits_left - bits >= len(columns) - len(leading) - 1
        ):
            leading.append(c)
            bits_left -= bits
    following = [c for c in columns if c not in leading][:bits_left]
    bits = min(bits_left // max(len(following), 1), 31)
    sizes = np.array([radix[c] for c in leading], np.int64)
    slow = kernels.orders.grid_of(points, model, leading, sizes.tolist(), counts, few_points)
    cells = [max(int((1 << bits) * model.weight[c]), 1) for c in following]
    fast = kernels.orders.grid_of(points, model, following, cells, counts, {})
    parts = pieces(n, JOB_ROWS)
    jobs = [(points, begin, end, slow, sizes, fast, bits) for begin, end in parts]
    keys = np.concatenate(workers.map(_keys, jobs, [end - begin for begin, end in parts]))
    sample = np.sort(keys[:: max(n // 1024, 1)])
    step = -(-len(sample) // max(n // JOB_ROWS, 1))
    cuts = np.unique(
        np.concatenate(([keys.min(initial=0)], sample[step::step], [keys.max(initial=0)]))
    )
    ends = list(pairwise(cuts)) or [(cuts[0], cuts[0])]
    sorts = [(keys, low, high, high == cuts[-1]) for low, high in ends]
    order: Order = np.concatenate(
        workers.map(kernels.orders.order_between, sorts, [n // len(ends)] * len(ends))
    )
    return order


def _keys(
    points: Any, first: int, end: int, slow: Any, radix: Any, fast: Any, bits: int
) -> npt.NDArray[np.uint64]:
    """Return the keys of rows first … end - 1 along the curve, uint64[end - first]."""
    leading = kernels.orders.gray_key(points, first, end, slow, radix)
    hilbert_bits = len(fast.column) * bits
    if hilbert_bits == 0:
        return np.asarray(leading)
    following = kernels.orders.hilbert_key(points, first, end, fast, bits)
    flips = np.where(leading & np.uint64(1), np.uint64((1 << hilbert_bits) - 1), np.uint64(0))
    keys: npt.NDArray[np.uint64] = (leading << np.uint64(hilbert_bits)) | (following ^ flips)
    return keys


def window_order(
    table: QuasiTable, order: Order, k: int, workers: Workers, piece: int = JOB_ROWS
) -> Order:
    """Return the order with each row near those just before it, within pieces of ``piece`` rows."""
    width = int(np.clip(AIMED_COMPARISONS // max(len(order), 1), *WINDOW_ROWS))
    few, many = max(1, round(FEW_SHARE * k)), max(1, round(MANY_SHARE * k))
    points, parts = spread(table), pieces(len(order), piece)
    jobs = [(points, order[begin:end], table.model, width, few, many) for begin, end in parts]
    window: Order = np.concatenate(
        workers.map(
            kernels.moving_window.moving_window, jobs, [end - begin for begin, end in parts]
        )
    )
    return window


def cut_order(
    table: QuasiTable,
    order: Order,
    k: int,
    workers: Workers,
    rules: "kernels.legality.Rules | None" = None,
) -> tuple[npt.NDArray[np.int32], float]:
    """Return class ids int32[n] and their loss: the order cut into groups of k to 2k - 1 rows.

    The loss is the least, and comparable with that of another order of the same table.

    rules: what else a group should satisfy; the loss then includes a price for what it falls short
        of them.
    """
    priced = priced_attributes(rules, k)
    price = SHORTFALL_PRICE * float(table.model.weight.sum())

    def groups(rows: Order) -> tuple[npt.NDArray[np.int64], float]:
        cuts = kernels.order_cuts
        prices = cuts.NO_PRICES
        if priced.any():
            prices = kernels.prices.shortfall_prices(rules, rows, k, price, priced)
        piece_groups: tuple[npt.NDArray[np.int64], float] = cuts.optimal_groups(
            table.points, rows, table.model, k, prices
        )
        return piece_groups

    parts = pieces(len(order), max(CHUNK_ROWS // k, MIN_CHUNK_GROUPS) * k)
    piece_groups = workers.map(
        groups, [(order[begin:end],) for begin, end in parts], [end - begin for begin, end in parts]
    )
    sizes = np.concatenate([np.diff(starts) for starts, _ in piece_groups])
    classes = np.empty(len(order), np.int32)
    classes[order] = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    return classes, float(sum(loss for _, loss in piece_groups))


def priced_attributes(rules: "kernels.legality.Rules | None", k: int) -> npt.NDArray[np.bool_]:
    """Return the attributes whose shortfall is priced, bool[b]: those of few values for that k."""
    if rules is None or k > kernels.order_cuts.MAX_EXACT_K:
        return np.zeros(0, np.bool_)
    return np.asarray(k * (rules.non_null + 1) <= MAX_COUNTED_VALUES)
