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

JOB = 1 << 16  # rows in a job
CHUNK = 1 << 14  # rows that are grouped by themselves, plus a remainder of less than a group
LEAST_GROUPS = 8  # in a chunk, where k is large
BITS = 63  # of a key
LEADING = 8  # most values of a column that comes before all others in the order
CANDIDATES = (192, 4096)  # least and most rows of the moving window
COMPARISONS = 3 << 26  # rows times candidates that 'good' aims at
PRICE = 0.04  # of a shortfall of 1 in a group, in units of what a row can lose
COUNTED = 1 << 10  # values that are counted for a row, at most
FEW, MANY = 0.2, 0.7  # of k: rows in the boxes of the moving window

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

    Columns of at most LEADING values come first, in reflected Gray order, the one of fewest values
    slowest, since a class that mixes two of its values loses most; a column of less weight counts
    as one of more values. The other columns follow on a Hilbert curve, which is reversed wherever
    the Gray key is odd; a column of less weight has fewer cells there. A column for which no bit is
    left does not count.
    """
    points, model, n = spread(table), table.model, table.rows
    columns = range(points.shape[1])
    sets = [c for c in columns if model.kind[c] == kernels.loss.SET]
    others = [c for c in columns if model.kind[c] != kernels.loss.SET]
    jobs: list[Any] = [(points, c, int(model.null[c]) + 1) for c in sets]
    counts = dict(
        zip(sets, workers.map(kernels.orders.counts_of, jobs, [n] * len(jobs)), strict=True)
    )
    jobs = [(points, c, model.null[c], LEADING - 1) for c in others]
    found = workers.map(kernels.orders.few_values, jobs, [n] * len(jobs))
    few = {c: values for c, values in zip(others, found, strict=True) if len(values)}
    # one more for NULL, whether there is one or not
    radix = {c: int(model.values[c]) if c in counts else len(few[c]) + 1 for c in [*sets, *few]}
    least = {c: radix[c] / w if (w := model.weight[c]) else np.inf for c in radix}
    leading: list[int] = []
    bits_left = BITS
    for c in sorted(radix, key=lambda c: (least[c], c)):
        bits = radix[c].bit_length()
        if (
            radix[c] > 1
            and least[c] <= LEADING
            and bits_left - bits >= len(columns) - len(leading) - 1
        ):
            leading.append(c)
            bits_left -= bits
    rest = [c for c in columns if c not in leading][:bits_left]
    bits = min(bits_left // max(len(rest), 1), 31)
    sizes = np.array([radix[c] for c in leading], np.int64)
    slow = kernels.orders.grid_of(points, model, leading, sizes.tolist(), counts, few)
    cells = [max(int((1 << bits) * model.weight[c]), 1) for c in rest]
    fast = kernels.orders.grid_of(points, model, rest, cells, counts, {})
    parts = pieces(n, JOB)
    jobs = [(points, a, b, slow, sizes, fast, bits) for a, b in parts]
    keys = np.concatenate(workers.map(_keys, jobs, [b - a for a, b in parts]))
    sample = np.sort(keys[:: max(n // 1024, 1)])
    step = -(-len(sample) // max(n // JOB, 1))
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
    used = len(fast.column) * bits
    if used == 0:
        return np.asarray(leading)
    following = kernels.orders.hilbert_key(points, first, end, fast, bits)
    back = np.where(leading & np.uint64(1), np.uint64((1 << used) - 1), np.uint64(0))
    keys: npt.NDArray[np.uint64] = (leading << np.uint64(used)) | (following ^ back)
    return keys


def window_order(
    table: QuasiTable, order: Order, k: int, workers: Workers, piece: int = JOB
) -> Order:
    """Return the order with each row near those just before it, within pieces of so many rows."""
    width = int(np.clip(COMPARISONS // max(len(order), 1), *CANDIDATES))
    few, many = max(1, round(FEW * k)), max(1, round(MANY * k))
    points, parts = spread(table), pieces(len(order), piece)
    jobs = [(points, order[a:b], table.model, width, few, many) for a, b in parts]
    moved: Order = np.concatenate(
        workers.map(kernels.moving_window.moving_window, jobs, [b - a for a, b in parts])
    )
    return moved


def cut_order(
    table: QuasiTable,
    order: Order,
    k: int,
    workers: Workers,
    rules: "kernels.legality.Rules | None" = None,
) -> tuple[npt.NDArray[np.int32], float]:
    """Return class ids int32[n] and their loss: the order cut into groups of k to 2k - 1 rows.

    The loss is the least, and comparable with that of another order of the same table. rules: what
    else a group should satisfy; the loss then includes a price for what it falls short of them.
    """
    priced = priced_attributes(rules, k)
    price = PRICE * float(table.model.weight.sum())

    def groups(rows: Order) -> tuple[npt.NDArray[np.int64], float]:
        cuts = kernels.order_cuts
        prices = cuts.NO_PRICES
        if priced.any():
            prices = kernels.prices.shortfall_prices(rules, rows, k, price, priced)
        found: tuple[npt.NDArray[np.int64], float] = cuts.optimal_groups(
            table.points, rows, table.model, k, prices
        )
        return found

    parts = pieces(len(order), max(CHUNK // k, LEAST_GROUPS) * k)
    found = workers.map(groups, [(order[a:b],) for a, b in parts], [b - a for a, b in parts])
    sizes = np.concatenate([np.diff(starts) for starts, _ in found])
    classes = np.empty(len(order), np.int32)
    classes[order] = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    return classes, float(sum(loss for _, loss in found))


def priced_attributes(rules: "kernels.legality.Rules | None", k: int) -> npt.NDArray[np.bool_]:
    """Return the attributes whose shortfall is priced, bool[b]: those of few values for that k."""
    if rules is None or k > kernels.order_cuts.EXACT:
        return np.zeros(0, np.bool_)
    return np.asarray(k * (rules.known + 1) <= COUNTED)
