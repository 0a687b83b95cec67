"""What ``utility`` says of a release, from its classes: the labels are not printed for it.

Two classes that would print alike are one, a class that would print ``*`` everywhere is suppressed,
and ends of ranges are the DOUBLEs that the labels would be read as.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.calls.nodes import node_text, nodes_of
from anon_sql.columns import Categories, Numbers
from anon_sql.exact import approximate, exact
from anon_sql.hierarchical import Hierarchical
from anon_sql.labels import STAR
from anon_sql.table import Column, QuasiTable

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Grouped = tuple[npt.NDArray[np.int32], Ints]  # rows class by class, where each class starts
_MICRO = {"s": 10**6, "ms": 10**3}  # TIMESTAMP_NS and TIME_NS are counted in nanoseconds
_EXACT = 2**53  # whole numbers up to here are DOUBLEs


@dataclass(frozen=True)
class Measured:
    """A table whose releases are measured; types and lists: of its quasi-identifiers, by name."""

    table: QuasiTable
    types: Mapping[str, str]
    lists: Mapping[str, pa.Array]

    @cached_property
    def points(self) -> dict[str, Floats]:
        """The values of each number as a label's ends are read, halved, rows as they came."""
        return {
            column.name: doubles(self.types[column.name], self.lists[column.name]) / 2
            for column in self.table.columns
            if isinstance(column, Numbers)
        }

    def measures(
        self, classes: npt.NDArray[np.int32], nodes: npt.NDArray[np.int32] | None, k: int
    ) -> dict[str, Any]:
        """The columns of ``utility`` by name, of classes int32[n] (-1: suppressed) and nodes."""
        from anon_sql.kernels import grouping

        rows, count = self.table.rows, int(classes.max(initial=-1)) + 1
        starred = bool((classes < 0).any())
        grouped = grouping.group(
            np.where(classes < 0, count, classes).astype(np.int32), count + starred
        )
        sizes = np.diff(grouped[1])
        printed, stars, lost = [], np.ones(len(sizes), dtype=np.bool_), []
        for at, column in enumerate(self.table.columns):
            chosen = None if nodes is None else nodes[:, at]
            label, star, loss = self._column(column, grouped, chosen)
            if starred:
                star[-1] = True
            printed.append(np.where(star, -1, label))
            stars &= star
            lost.append(fsum(sizes * np.where(star, 1.0, loss)) / rows)
        _, alike = np.unique(np.column_stack(printed), axis=0, return_inverse=True)
        shown = np.bincount(alike.reshape(-1), weights=np.where(stars, 0, sizes)).astype(np.int64)
        shown, suppressed = shown[shown > 0], int(sizes[stars].sum())
        squares = int((shown**2).sum())
        smallest = [int(shown.min())] if len(shown) else []
        return {
            "rows": rows,
            "suppressed": suppressed,
            "classes": len(shown),
            "smallest_class": min(smallest + [suppressed] * (suppressed > 0)),
            "dm": squares + suppressed**2,
            "dm_star": squares + suppressed * rows,
            "cavg": (rows - suppressed) / len(shown) / k if len(shown) else None,
            "gcp": fsum(lost) / len(lost),
            "suppression_rate": suppressed / rows,
        }

    def _column(
        self, column: Column, grouped: Grouped, nodes: npt.NDArray[np.int32] | None
    ) -> tuple[Ints, npt.NDArray[np.bool_], Floats]:
        """Of each class: what tells its label from others (from 0), is it *, what does it lose."""
        if isinstance(column, Hierarchical):
            return _of_nodes(column, grouped, nodes)
        if isinstance(column, Numbers):
            return _of_ranges(column, grouped, self.points[column.name])
        return _of_sets(column, grouped)


def _of_nodes(
    column: Hierarchical, grouped: Grouped, chosen: npt.NDArray[np.int32] | None
) -> tuple[Ints, npt.NDArray[np.bool_], Floats]:
    used, of_class = np.unique(nodes_of(column, *grouped, chosen), return_inverse=True)
    tree = column.tree
    texts = [node_text(tree, node) for node in used.tolist()]
    known = {text: at for at, text in enumerate(dict.fromkeys(texts))}
    label = np.array([known[text] for text in texts])
    star = np.array([text == STAR for text in texts])
    loss = np.array([0.0 if t is None else tree.share[tree.node_of[t]] for t in texts])
    return label[of_class], star[of_class], loss[of_class]


def _of_ranges(
    column: Numbers, grouped: Grouped, points: Floats
) -> tuple[Ints, npt.NDArray[np.bool_], Floats]:
    from anon_sql.kernels import grouping

    low, high, nulls = grouping.extremes(*grouped, column.keys, column.present)
    empty = low < 0
    ends = np.column_stack([empty, column.keys[low], column.keys[high]])
    ends[empty, 1:] = 0
    _, label = np.unique(ends, axis=0, return_inverse=True)
    known = points[column.present]
    width = known.max() - known.min() if len(known) else 0.0
    loss = np.where(empty, 0.0, points[high] - points[low]) / (width or 1.0)
    return label.reshape(-1), (nulls > 0) & ~empty, loss


def _of_sets(column: Categories, grouped: Grouped) -> tuple[Ints, npt.NDArray[np.bool_], Floats]:
    from anon_sql.kernels import grouping

    ends, flat = grouping.distinct(*grouped, column.codes)
    _, label = np.unique(grouping.set_hashes(ends, flat), return_inverse=True)
    count = np.diff(ends)
    star = (flat[ends[1:] - 1] == column.null_code) & (count > 1)
    return label, star, np.where(count > 1, count / column.distinct, 0.0)


def doubles(sql_type: str, values: pa.Array) -> Floats:
    """Numbers, days, micro- or nanoseconds as the nearest DOUBLE, as ``__anon_point`` has them;
    whatever for NULL."""
    if pa.types.is_floating(values.type) or pa.types.is_uint64(values.type):
        return approximate(sql_type, values)
    high, low = exact(sql_type, values)
    if not pa.types.is_decimal(values.type):
        unit = getattr(values.type, "unit", "us")
        return (high * (1 if pa.types.is_date(values.type) else _MICRO.get(unit, 1))).astype(
            np.float64
        )
    scale = values.type.scale
    if low is None and (scale == 0 or (scale <= 22 and np.abs(high).max(initial=0) <= _EXACT)):
        near: Floats = high / 10.0**scale if scale else high.astype(np.float64)
        return near
    if low is None:
        whole = [int(x) for x in high]
    else:  # two halves: the upper is signed, or without its top bit; see ``exact``
        unsigned = sql_type.startswith("UHUGE")
        upper = high.view(np.uint64) ^ np.uint64(1 << 63) if unsigned else high
        lower = low.view(np.uint64) ^ np.uint64(1 << 63)
        whole = [(int(h) << 64) + int(x) for h, x in zip(upper, lower, strict=True)]
    return np.array([x / 10**scale for x in whole], dtype=np.float64)
