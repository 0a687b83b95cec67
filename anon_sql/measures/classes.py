"""Compute the measures of ``utility`` from classes whose labels are not printed.

Classes whose labels would be equal count as one, and a class whose labels would all be ``*`` is
suppressed. The ends of ranges are the DOUBLEs that the printed labels would be parsed as. Also
measure how unevenly the values of sensitive columns are distributed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql import kernels
from anon_sql.core import stopping
from anon_sql.core.arrow import integers
from anon_sql.core.bin_width import Bins
from anon_sql.core.columns import Categories, Numbers
from anon_sql.core.hierarchy.column import Hierarchical
from anon_sql.core.labels import grammar
from anon_sql.core.labels.grammar import STAR
from anon_sql.core.labels.writing import NULL_NODE, node_text, nodes_of
from anon_sql.core.ordered import Ordered
from anon_sql.core.table import Column, QuasiTable
from anon_sql.measures.loss import node_height, node_loss, points, range_loss, set_height, set_loss
from anon_sql.measures.utility import of_classes, of_heights, of_losses
from anon_sql.privacy.class_values import ClassValues

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

Grouped = tuple[npt.NDArray[np.int32], Ints]  # rows class by class, where each class starts


class ColumnMeasures(NamedTuple):
    """One entry per class. label: the number of its label. star: whether the label is ``*``. loss:
    its NCP. height: its loss in ILoss."""

    label: Ints
    star: npt.NDArray[np.bool_]
    loss: Floats
    height: Floats


class Span(NamedTuple):
    """The ends between which labels place n values, float64[n] as ``points``, and their domain."""

    low: Floats
    high: Floats
    least: float
    most: float


@dataclass(frozen=True)
class MeasuredTable:
    """A table whose releases are measured.

    types, lists: SQL types and values of its quasi-identifiers, by name. cuts: the bins of those
    whose values are cut, which labels show.
    """

    table: QuasiTable
    types: Mapping[str, str]
    lists: Mapping[str, pa.Array]
    cuts: Mapping[str, Bins] = field(default_factory=dict)

    @cached_property
    def points(self) -> dict[str, Span]:
        """The ends that labels show of each value of numeric columns, in source order."""
        spans = {}
        for column in self.table.columns:
            if isinstance(column, Numbers):
                name = column.name
                if isinstance(column, Ordered):
                    whole, kind = column.values, column.sql_type
                else:
                    whole, kind = self.lists[name], self.types[name]
                values = points(kind, whole)
                non_null = values[column.present]
                least, most = (non_null.min(), non_null.max()) if len(non_null) else (0.0, 0.0)
                low, high = (
                    np.clip(points(kind, end), least, most)
                    for end in self.cuts.get(name, (whole, whole))
                )
                spans[name] = Span(low, high, least, most)
        return spans

    def measures(
        self, classes: npt.NDArray[np.int32], nodes: npt.NDArray[np.int32] | None, k: int
    ) -> dict[str, Any]:
        """Return the measures of classes, by the names of ``UTILITY``.

        classes: int32[n], -1 for a suppressed row; nodes: int32[n, d], the nodes of hierarchies
        that the method chose, or None; k: of cavg.
        """
        rows, count = self.table.rows, int(classes.max(initial=-1)) + 1
        suppressed = bool((classes < 0).any())
        grouped = kernels.hashing.group(
            np.where(classes < 0, count, classes).astype(np.int32), count + suppressed
        )
        sizes = np.diff(grouped[1])
        printed, stars = [], np.ones(len(sizes), dtype=np.bool_)
        lost, heights = [], []
        for i, column in enumerate(self.table.columns):
            chosen = None if nodes is None else nodes[:, i]
            label, star, loss, height = self._column(column, grouped, chosen)
            if suppressed:
                star[-1] = True
            printed.append(np.where(star, -1, label))
            stars &= star
            lost.append(np.where(star, 1.0, loss))
            heights.append(np.where(star, 1.0, height))
        _, label_of = np.unique(np.column_stack(printed), axis=0, return_inverse=True)
        class_sizes = np.bincount(label_of.reshape(-1), weights=np.where(stars, 0, sizes)).astype(
            np.int64
        )
        class_sizes = class_sizes[class_sizes > 0]
        measured = of_classes(
            rows, class_sizes, np.ones_like(class_sizes), int(sizes[stars].sum()), k
        )
        counts = [sizes] * len(lost)
        return {
            **measured,
            "gcp": of_losses(rows, counts, lost, 0, self.table.model.weight)["gcp"],
            "iloss": of_heights(counts, heights),
        }

    def _column(
        self, column: Column, grouped: Grouped, nodes: npt.NDArray[np.int32] | None
    ) -> ColumnMeasures:
        """Return the labels and losses of a column."""
        if isinstance(column, Hierarchical):
            return _of_nodes(column, grouped, nodes)
        if isinstance(column, Numbers):
            return _of_ranges(column, grouped, self.points[column.name], nodes)
        return _of_sets(column, grouped, nodes)


def _of_nodes(
    column: Hierarchical, grouped: Grouped, chosen: npt.NDArray[np.int32] | None
) -> ColumnMeasures:
    used, of_class = np.unique(nodes_of(column, *grouped, chosen), return_inverse=True)
    tree = column.tree
    texts = [node_text(tree, node) for node in used.tolist()]
    label_ids = {text: i for i, text in enumerate(dict.fromkeys(texts))}
    label = np.array([label_ids[text] for text in texts])
    star = np.array([text == STAR for text in texts])
    nodes = np.array([tree.root if text is None else tree.node_of[text] for text in texts])
    loss = np.where(used == NULL_NODE, 0.0, node_loss(tree, nodes))
    height = np.where(used == NULL_NODE, 0.0, node_height(tree, nodes))
    return ColumnMeasures(label[of_class], star[of_class], loss[of_class], height[of_class])


def _of_ranges(
    column: Numbers, grouped: Grouped, span: Span, chosen: npt.NDArray[np.int32] | None
) -> ColumnMeasures:
    low, high, nulls = kernels.hashing.extremes(*grouped, column.keys, column.present)
    of_class = grammar.of_classes(chosen, *grouped)
    low, high = grammar.shared_ends(of_class, column.keys, low, high)
    empty = low < 0
    ends = np.column_stack([empty, column.keys[low], column.keys[high]])
    ends[empty, 1:] = 0
    _, label = np.unique(ends, axis=0, return_inverse=True)
    loss = range_loss(span.low[low], span.high[high], span.least, span.most)
    loss = np.where(empty, 0.0, loss)
    star = ((nulls > 0) & ~empty) | (of_class == grammar.STARRED)
    return ColumnMeasures(label.reshape(-1), star, loss, loss)


def _of_sets(
    column: Categories, grouped: Grouped, chosen: npt.NDArray[np.int32] | None
) -> ColumnMeasures:
    ends, flat = kernels.hashing.distinct(*grouped, column.codes)
    _, label = np.unique(kernels.hashing.set_hashes(ends, flat), return_inverse=True)
    count = np.diff(ends)
    star = (flat[ends[1:] - 1] == column.null_code) & (count > 1)
    star |= grammar.of_classes(chosen, *grouped) == grammar.STARRED
    return ColumnMeasures(label, star, set_loss(count, column.distinct), set_height(count))


def dominance(spread: ClassValues) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return the number of values of each class, int64[m], and the share of the most frequent value
    among its rows with a value, float64[m]; 0 for a class of NULLs."""
    many = len(spread.starts)
    class_of, counts = spread.class_of[spread.non_null], spread.counts[spread.non_null]
    values = np.bincount(class_of, minlength=many)
    non_null_rows = np.bincount(class_of, weights=counts, minlength=many)
    most = np.zeros(many)
    np.maximum.at(most, class_of, counts)
    return values, most / np.maximum(non_null_rows, 1)


IMBALANCE = pa.struct(
    [
        ("attribute", pa.string()),
        ("value", pa.string()),
        ("rows", pa.int64()),
        ("ratio", pa.float64()),
    ]
)


def imbalance(texts: Mapping[str, pa.Array], counts: npt.NDArray[np.int64]) -> list[dict[str, Any]]:
    """Return a row for each column and value, see ``IMBALANCE``, the most frequent value first.

    texts: of each sensitive column its values as printed, of groups that may repeat; counts:
    int64[g], the rows of each group. ratio: the rows of the most frequent value / those of the
    value; NULL for NULL.
    """
    rows = []
    for name, column in texts.items():
        stopping.check()
        coded = column.dictionary_encode()
        places = integers(coded.indices.fill_null(len(coded.dictionary)))
        sums = np.bincount(places, counts, len(coded.dictionary) + 1).astype(np.int64).tolist()
        non_null = list(zip(coded.dictionary.to_pylist(), sums, strict=False))
        most = max((count for _, count in non_null), default=0)
        value_counts = [*non_null, (None, sums[-1])] if sums[-1] else non_null
        value_counts.sort(
            key=lambda value_count: (
                -value_count[1],
                value_count[0] is None,
                (value_count[0] or "").encode(),
            )
        )
        rows += [
            {
                "attribute": name,
                "value": value,
                "rows": count,
                "ratio": None if value is None else most / count,
            }
            for value, count in value_counts
        ]
    return rows
