"""The axis of a quasi-identifier, and what each of its labels covers of it."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.arrow import integers
from anon_sql.columns import is_number
from anon_sql.errors import AnonError
from anon_sql.measures.checked import HINT

_COUNTED = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "DATE")  # and U…
Matches = tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_]]


class Axis:
    """Points, the gaps between them, and NULL, with the truth of every block on each.

    A label covers a range of points and gaps (numbers), some points (sets), NULL, or
    everything (``*``). Where the column has a hierarchy the points are its leaves, numbers too,
    and a label covers the leaves below its node.
    """

    def __init__(self, function: str, column: pa.StructScalar):
        self.name = column["name"].as_py()
        axis, read = column["axis"], column["read"]
        self.nulls = bool(column["nulls"].as_py())
        at = integers(axis["step"].values)
        places = axis["place"].values.to_numpy(zero_copy_only=False)
        truths = truth_table(axis["truths"], len(at))
        order = np.argsort(at)
        at, truths = at[order], truths[order]
        points = (at % 2 == 0) & (at > 0)
        self.null = truths[0]  # bool[m]
        self.point = truths[points]  # bool[P, m]
        count = len(self.point)
        self.gap = self.point[: max(count - 1, 0)].copy()  # bool[P - 1, m], as the point before
        self.gap[at[at % 2 == 1] // 2 - 1] = truths[at % 2 == 1]
        place = places[order][points]
        printed = np.array(axis["printed"].values.to_pylist(), dtype=object)[order][points]
        self.place_of = {text: position for position, text in enumerate(printed)}
        said = read["said"].values.to_pylist() if read["said"].is_valid else []
        codes = integers(read["code"].values) if read["code"].is_valid else np.zeros(0, np.int64)
        leaves = column["leaves"].as_py()
        if leaves is not None:
            said = [{**label, "members": names} for label, names in zip(said, leaves, strict=True)]
            _require_covered(function, self.name, column["lacks"].as_py())
        said = [said[position] for position in np.argsort(codes)]
        self.star = np.array([label["star"] for label in said], dtype=np.bool_)
        self.empty = np.array([label["empty"] for label in said], dtype=np.bool_)
        kind = axis["kind"].as_py()
        self.by_tree = leaves is not None
        self.is_set = self.by_tree or not is_number(function, self.name, kind)
        counted = kind.lstrip("U") in _COUNTED
        width = np.diff(place) if not self.is_set else np.zeros(max(count - 1, 0))
        self.point_weight = 1.0 if counted or self.is_set else 0.0
        self.gap_weight = np.maximum(width - self.point_weight, 0.0)
        if self.is_set:
            self.gap_weight[:] = 0.0
        told = np.zeros(len(width), dtype=np.bool_)
        told[at[at % 2 == 1] // 2 - 1] = True
        if counted and not told[self.gap_weight > 0].all():
            rule = "every gap between values must be looked at"
            raise AnonError(function, rule, f"some of {self.name} that were not", "report this")
        self._place(function, said, count)

    def _place(self, function: str, said: list[Mapping[str, Any]], count: int) -> None:
        """Where each label begins and ends: int64[L] twice, or members and their starts."""
        self.low = np.zeros(len(said), dtype=np.int64)
        self.high = np.full(len(said), count - 1, dtype=np.int64)
        members: list[list[int]] = [[] for _ in said]
        try:
            for at, label in enumerate(said):
                if label["star"] or label["empty"]:
                    continue
                if self.is_set:
                    members[at] = self._members(label)
                else:
                    self.low[at] = self.place_of[label["low"]]
                    self.high[at] = self.place_of[label["high"]]
        except KeyError:
            raise AnonError(
                function,
                f"a label of {self.name} must name what the raw table holds",
                "one with other",
                HINT,
            ) from None
        self.sizes = np.array([len(one) for one in members], dtype=np.int64)
        self.members = np.array([m for one in members for m in one], dtype=np.int64)
        self.owner = np.repeat(np.arange(len(said)), self.sizes)

    def _members(self, label: Mapping[str, Any]) -> list[int]:
        """Leaves that the raw column's type has no place for are no possible values."""
        found = {self.place_of[text] for text in label["members"] if text in self.place_of}
        if len(found) < (1 if self.by_tree else len(label["members"])):
            raise KeyError
        return sorted(found)

    def everything(self, block: int) -> tuple[float, bool, bool]:
        """What ``*`` makes of a block: share, certainly, possibly. NULL counts as one value."""
        point, gap, null = self.point[:, block], self.gap[:, block], bool(self.null[block])
        if not len(point):
            return float(null), null, null
        must = bool(point.all() and gap.all() and (null or not self.nulls))
        may = bool(point.any() or gap.any() or (null and self.nulls))
        alone = float(self.point_weight * self.nulls)
        weight = self.point_weight * len(point) + self.gap_weight.sum()
        if weight == 0:
            return float(point[0]), must, may
        true = self.point_weight * point.sum() + (self.gap_weight * gap).sum()
        return float((true + alone * null) / (weight + alone)), must, may

    def matches(self, block: int) -> Matches:
        """Of each label: share that matches, whether all of it does and whether any."""
        point, gap = self.point[:, block], self.gap[:, block]
        if self.is_set:
            hits = np.bincount(self.owner, weights=point[self.members], minlength=len(self.sizes))
            share = hits / np.maximum(self.sizes, 1)
            must, may = hits == self.sizes, hits > 0
        else:
            share, must, may = self._ranges(point, gap)
        share[self.empty] = must[self.empty] = may[self.empty] = self.null[block]
        share[self.star], must[self.star], may[self.star] = self.everything(block)
        return share, must, may

    def _ranges(self, point: npt.NDArray[np.bool_], gap: npt.NDArray[np.bool_]) -> Matches:
        low, high = self.low, self.high
        if not len(point):
            return np.zeros(len(low)), np.zeros(len(low), np.bool_), np.zeros(len(low), np.bool_)
        points, gaps = _sums(point), _sums(gap)
        hits = points[high + 1] - points[low] + gaps[high] - gaps[low]
        weights, true = _sums(self.gap_weight), _sums(self.gap_weight * gap)
        weight = self.point_weight * (high + 1 - low) + weights[high] - weights[low]
        found = self.point_weight * (points[high + 1] - points[low]) + true[high] - true[low]
        share = np.where(weight > 0, found / np.where(weight > 0, weight, 1.0), point[low])
        return share, hits == 2 * (high - low) + 1, hits > 0


def _require_covered(function: str, name: str, lacks: int) -> None:
    if lacks:
        raise AnonError(
            function,
            f"the hierarchy must cover every value of {name}",
            f"{lacks:,} value{'' if lacks == 1 else 's'} that it lacks",
            "check_hierarchy() lists them",
        )


def _sums(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    kind = np.float64 if values.dtype == np.float64 else np.int64
    return np.concatenate((np.zeros(1, kind), np.cumsum(values, dtype=kind)))


def truth_table(lists: pa.ListScalar, rows: int) -> npt.NDArray[np.bool_]:
    """bool[rows, m] of a list of lists of BOOLEANs."""
    if not rows or not lists.is_valid:
        return np.zeros((rows, 0), dtype=np.bool_)
    flat = integers(lists.values.flatten()).astype(np.bool_)
    table: npt.NDArray[np.bool_] = flat.reshape(rows, -1)
    return table
