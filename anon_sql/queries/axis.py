"""The axis of a quasi-identifier: how much of what a label covers satisfies a condition."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql.core.labels.read import Said

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Matches = tuple[Floats, Bools, Bools]  # of each label: share that matches, all of it, any of it


@dataclass(frozen=True)
class Spans:
    """Labels of numbers: the first and the last point of each, int64[L]."""

    low: Ints
    high: Ints


@dataclass(frozen=True)
class Members:
    """Labels of sets: the points of all of them one after the other, and how many each has."""

    points: Ints
    sizes: Ints


@dataclass(frozen=True)
class Axis:
    """Points, the gaps between them and NULL, the truth of m conditions on each, and L labels.

    point: bool[P, m]; gap: bool[P - 1, m], zero rows for sets; null: bool[m]; nulls: whether the
    raw column holds NULL. A point weighs ``point_weight`` and a gap ``gap_weight``, float64[P - 1]:
    how many values there are, or how wide it is.
    """

    point: Bools
    gap: Bools
    null: Bools
    nulls: bool
    point_weight: float
    gap_weight: Floats
    said: Said
    covered: Spans | Members

    @classmethod
    def of_sets(
        cls, point: Bools, null: Bools, nulls: bool, said: Said, covered: Members
    ) -> "Axis":
        """An axis of points alone."""
        return cls(point, point[:0], null, nulls, 1.0, np.zeros(0), said, covered)

    def everything(self, at: int) -> tuple[float, bool, bool]:
        """What ``*`` makes of a condition: share, certainly, possibly. NULL counts as one value."""
        point, gap, null = self.point[:, at], self.gap[:, at], bool(self.null[at])
        if not len(point):
            return float(null), null, null
        must = bool(point.all() and gap.all() and (null or not self.nulls))
        may = bool(point.any() or gap.any() or (null and self.nulls))
        alone = self.point_weight * self.nulls
        weight = self.point_weight * len(point) + self.gap_weight.sum()
        if weight == 0:
            return float(point[0]), must, may
        true = self.point_weight * point.sum() + (self.gap_weight * gap).sum()
        return float((true + alone * null) / (weight + alone)), must, may

    def matches(self, at: int) -> Matches:
        """What each label makes of a condition."""
        point, gap = self.point[:, at], self.gap[:, at]
        found = (
            _in_sets(self.covered, point)
            if isinstance(self.covered, Members)
            else self._in_spans(self.covered, point, gap)
        )
        share, must, may = found
        empty, star = self.said.empty, self.said.star
        share[empty] = must[empty] = may[empty] = self.null[at]
        share[star], must[star], may[star] = self.everything(at)
        return share, must, may

    def _in_spans(self, spans: Spans, point: Bools, gap: Bools) -> Matches:
        low, high = spans.low, spans.high
        if not len(point):
            return np.zeros(len(low)), np.zeros(len(low), np.bool_), np.zeros(len(low), np.bool_)
        points, gaps = _sums(point), _sums(gap)
        hits = points[high + 1] - points[low] + gaps[high] - gaps[low]
        weights, true = _sums(self.gap_weight), _sums(self.gap_weight * gap)
        weight = self.point_weight * (high + 1 - low) + weights[high] - weights[low]
        found = self.point_weight * (points[high + 1] - points[low]) + true[high] - true[low]
        share = np.where(weight > 0, found / np.where(weight > 0, weight, 1.0), point[low])
        return share, hits == 2 * (high - low) + 1, hits > 0


def members(listed: Sequence[Sequence[int]]) -> Members:
    """Labels as the places of their points."""
    flat = np.array([place for places in listed for place in places], dtype=np.int64)
    return Members(flat, np.array([len(places) for places in listed], dtype=np.int64))


def _in_sets(members: Members, point: Bools) -> Matches:
    owner = np.repeat(np.arange(len(members.sizes)), members.sizes)
    hits = np.bincount(owner, weights=point[members.points], minlength=len(members.sizes))
    return hits / np.maximum(members.sizes, 1), hits == members.sizes, hits > 0


def _sums(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    kind = np.float64 if values.dtype == np.float64 else np.int64
    return np.concatenate((np.zeros(1, kind), np.cumsum(values, dtype=kind)))
