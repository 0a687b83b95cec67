"""What an aggregate is estimated at and between which numbers it must lie."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Answer = tuple[float | None, float | None, float | None]  # estimate, lower, upper


@dataclass(frozen=True)
class Rows:
    """Released rows, alike ones merged: how many (count), the share that matches, whether all
    certainly or possibly do, the kept column's value (NaN for NULL)."""

    count: npt.NDArray[np.float64]
    share: npt.NDArray[np.float64]
    must: npt.NDArray[np.bool_]
    may: npt.NDArray[np.bool_]
    value: npt.NDArray[np.float64]
    dropped_share: npt.NDArray[np.float64]  # of the rows left out, were they like these

    def only(self, kept: npt.NDArray[Any]) -> "Rows":
        return Rows(
            self.count[kept],
            self.share[kept],
            self.must[kept],
            self.may[kept],
            self.value[kept],
            self.dropped_share[kept],
        )


@dataclass(frozen=True)
class Dropped:
    """Rows that the release leaves out. count: how many that possibly match; must: whether they
    certainly do; each: how many of them stand behind one released row in the estimate; least,
    most: the kept column's range in the raw table, NaN where it has none."""

    count: int
    must: bool
    each: float
    least: float
    most: float


def count(rows: Rows, dropped: Dropped) -> Answer:
    estimate = float(rows.count @ (rows.share + dropped.each * rows.dropped_share))
    lower = float(rows.count @ rows.must) + (dropped.count if dropped.must else 0)
    return estimate, lower, float(rows.count @ rows.may) + dropped.count


def total(rows: Rows, dropped: Dropped) -> Answer:
    """sum: rows that possibly match count where they lower or raise it. NULL where none may."""
    if not rows.may.any() and not dropped.count:
        return None, None, None
    value = np.nan_to_num(rows.value)
    weight = rows.count * (rows.share + dropped.each * rows.dropped_share)
    certain = float((rows.count * value)[rows.must].sum())
    maybe = (rows.count * value)[rows.may & ~rows.must]
    lower, upper = certain + maybe.clip(max=0).sum(), certain + maybe.clip(min=0).sum()
    if dropped.count:
        least, most = dropped.least, dropped.most
        if not dropped.must:
            least, most = min(least, 0.0), max(most, 0.0)
        lower, upper = lower + dropped.count * least, upper + dropped.count * most
    return float(weight @ value), _known(lower), _known(upper)


def mean(rows: Rows, dropped: Dropped) -> Answer:
    """avg: the certain rows with those of the possible ones that pull it furthest."""
    weight = rows.count * (rows.share + dropped.each * rows.dropped_share)
    value = np.nan_to_num(rows.value)
    estimate = float(weight @ value / weight.sum()) if weight.sum() > 0 else None
    return (
        estimate,
        _pulled(rows, dropped, dropped.least, 1.0),
        _pulled(rows, dropped, dropped.most, -1.0),
    )


def _pulled(rows: Rows, dropped: Dropped, end: float, sign: float) -> float | None:
    """The least mean, or with sign -1 the largest."""
    size, value = float(rows.count[rows.must].sum()), sign * np.nan_to_num(rows.value)
    total = float((rows.count * value)[rows.must].sum())
    maybe = rows.may & ~rows.must
    values, sizes = value[maybe], rows.count[maybe]
    if dropped.count and dropped.must:
        size, total = size + dropped.count, total + dropped.count * sign * end
    elif dropped.count:
        values, sizes = np.append(values, sign * end), np.append(sizes, dropped.count)
    order = np.argsort(values)
    totals = total + np.concatenate(([0.0], np.cumsum((values * sizes)[order])))
    counts = size + np.concatenate(([0.0], np.cumsum(sizes[order])))
    means = totals[counts > 0] / counts[counts > 0]
    return _known(sign * float(means.min())) if len(means) else None


def least(rows: Rows, dropped: Dropped) -> Answer:
    """min: estimated at what it is on average, given that a row matches."""
    return _extreme(rows, dropped, dropped.least, dropped.most, 1.0)


def most(rows: Rows, dropped: Dropped) -> Answer:
    """max."""
    estimate, upper, lower = _extreme(rows, dropped, dropped.most, dropped.least, -1.0)
    return estimate, lower, upper


def _extreme(rows: Rows, dropped: Dropped, near: float, far: float, sign: float) -> Answer:
    """Of values times sign: the expected minimum, its smallest and its largest possible value."""
    maybe, certain = sign * rows.value[rows.may], sign * rows.value[rows.must]
    if dropped.count:
        maybe = np.append(maybe, [sign * near, sign * far])
        certain = np.append(certain, [sign * far] if dropped.must else [])
    if not len(maybe):
        return None, None, None
    best, worst = float(maybe.min()), float(certain.min() if len(certain) else maybe.max())
    held = rows.only(np.flatnonzero(rows.share > 0))
    order = np.argsort(sign * held.value)
    missed = np.cumprod((1 - held.share[order].clip(max=1.0)) ** held.count[order])
    first = np.concatenate(([1.0], missed[:-1])) - missed
    estimate = float(first @ held.value[order] / first.sum()) if first.sum() > 0 else None
    return estimate, _known(sign * best), _known(sign * worst)


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


AGGREGATES = {"count": count, "sum": total, "avg": mean, "min": least, "max": most}
