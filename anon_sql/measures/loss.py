"""Measure the information loss of released labels: NCP and ILoss, within the raw table's domain.

The normalized certainty penalty (NCP) is that of Xu et al. 2006 (Utility-based anonymization using
local recoding), section 3.1:

- A range loses its width / the width of the column's range in the table.
- A set of texts loses its number of values / the number in the table. If the texts are numbers or
  dates in some notation, it loses at least the range that they span / the range of all.
- A range of ordered categories loses what a range of their positions in the order loses.
- A node of a hierarchy loses the leaves below it / all leaves (Kara and Eyupoglu 2023, equation 5).

ILoss is that of Byun et al. 2007 (k-member clustering, definition 5). A range loses the same as in
the NCP. A node loses its height / the height of the hierarchy. Without a hierarchy, a set of
several texts is the root of a flat one.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core.arrow import integers, plain, valid
from anon_sql.core.columns import approximate, exact, infinite
from anon_sql.core.hierarchy.tree import HierarchyTree
from anon_sql.core.labels.as_printed import RawValues, raw_values
from anon_sql.core.labels.one_value import ROUNDING, shows_values
from anon_sql.core.labels.reading import ParsedLabels, Ranges, read_columns, read_nodes, read_sets
from anon_sql.core.notation import recognize
from anon_sql.core.ordered import declared_order, order_of
from anon_sql.errors import AnonError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def set_height(counts: Ints) -> Floats:
    """Return the loss of sets by their numbers of texts, 0 or 1."""
    return np.where(counts > 1, 1.0, 0.0)


def node_height(tree: HierarchyTree, nodes: Ints) -> Floats:
    """Return the loss of nodes of a hierarchy, 0 for a leaf to 1 for the root."""
    return tree.heights[nodes] / max(int(tree.heights[tree.root]), 1)


_MICRO = {"s": 10**6, "ms": 10**3}  # TIMESTAMP_NS and TIME_NS are counted in nanoseconds
_EXACT = 2**53  # whole numbers up to here are DOUBLEs


def points(sql_type: str, values: pa.Array) -> Floats:
    """Return half of each value as a DOUBLE, float64[n], so that no difference overflows.

    Dates count days, all other times micro- or nanoseconds. Arbitrary for NULL.
    """
    return doubles(sql_type, values) / 2


def doubles(sql_type: str, values: pa.Array) -> Floats:
    """Return each number, or count of days, micro- or nanoseconds, as the nearest DOUBLE,
    float64[n]; arbitrary for NULL."""
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
        numerators = [int(x) for x in high]
    else:  # two halves: the upper is signed, or without its top bit; see ``exact``
        unsigned = sql_type.startswith("UHUGE")
        upper = high.view(np.uint64) ^ np.uint64(1 << 63) if unsigned else high
        lower = low.view(np.uint64) ^ np.uint64(1 << 63)
        numerators = [(int(h) << 64) + int(x) for h, x in zip(upper, lower, strict=True)]
    return np.array([x / 10**scale for x in numerators], dtype=np.float64)


@dataclass(frozen=True)
class AttributeDomain:
    """The domain of a column, from which the loss of its labels is taken.

    number: its labels are ranges, not sets. least, most: half of its outermost values, see
    ``points``; NaN if it holds none. words: its distinct texts, none for numbers. nulls: whether
    it holds NULL. tree: its hierarchy, by which labels are read where there is one. null_rows: the
    number of rows with NULL.
    """

    name: str
    sql_type: str
    number: bool
    least: float
    most: float
    words: tuple[str, ...]
    nulls: bool
    tree: HierarchyTree | None = None
    null_rows: int = 0

    @property
    def values(self) -> int:
        """The number of distinct texts, counting NULL as one."""
        return len(self.words) + self.nulls

    @cached_property
    def raw(self) -> RawValues:
        """The texts that a released column may show as they are."""
        tree = self.tree
        nodes = None if tree is None else pa.array(tree.names[tree.leaves :])
        return raw_values(self.words, nodes, self.null_rows)

    @cached_property
    def meant(self) -> Mapping[str, float]:
        """The numbers that texts stand for, by text, if they are numbers, dates or times in some
        notation; empty otherwise."""
        recognized = None if self.number or self.tree is not None else recognize(self.words)
        if recognized is None:
            return {}
        values = recognized.notation.numbers(self.words)
        return {w: x for w, x in zip(self.words, values.tolist(), strict=True) if not isnan(x)}

    def has_ranges(self, labels: pa.Array) -> bool:
        """Return whether labels of categories are ranges by the order of their ENUM.

        No other label of a text begins with a bracket.
        """
        if self.number or self.tree is not None or not declared_order(self.sql_type):
            return False
        return _is_text(labels.type) and bool(pc.any(pc.starts_with(labels, "[")).as_py())

    @property
    def label_like(self) -> bool:
        """Whether some text would be printed in quotes."""
        return any(word == "*" or word[:1] in ("{", "'") for word in self.words if word)


def domain(
    function: str,
    name: str,
    sql_type: str,
    number: bool,
    ends: pa.Array,
    words: pa.Array | None,
    nulls: int,
    tree: HierarchyTree | None,
) -> AttributeDomain:
    """Return the domain of a column.

    ends: the smallest and the largest value of a number, date or time, in its own type. words: the
    distinct values of a text, perhaps NULL. nulls: the number of rows with NULL. Raises AnonError
    for a column with NaN or infinity.
    """
    if not number:
        non_null = [] if words is None else words.drop_null().to_pylist()
        return AttributeDomain(
            name, sql_type, number, np.nan, np.nan, tuple(non_null), nulls > 0, tree, nulls
        )
    if ends.null_count:
        return AttributeDomain(name, sql_type, number, np.nan, np.nan, (), nulls > 0, tree, nulls)
    if infinite(ends).any():
        raise AnonError(
            function,
            f"{name} must hold finite values",
            "some that are NaN or infinite",
            "make them NULL or leave the rows out",
        )
    least, most = points(sql_type, ends).tolist()
    return AttributeDomain(name, sql_type, number, least, most, (), nulls > 0, tree, nulls)


Bools = npt.NDArray[np.bool_]
OTHER = 2.0  # the loss of a label that covers nothing of what the raw column holds


@dataclass(frozen=True)
class Penalties:
    """The loss of one column, one entry per class.

    loss: the NCP, 0 to 1; OTHER, or NaN for a malformed label. height: the loss in ILoss, 0 to 1 if
    ``loss`` is. star: whether the label is ``*``, which loses 1. quoted: whether some label can
    stand for text that looks like a label. one_value: whether classes show a mean or a median,
    which has no NCP; the losses are then 0.
    """

    loss: Floats
    height: Floats
    star: Bools
    quoted: bool
    one_value: bool = False


def range_loss(low: Floats, high: Floats, least: float, most: float) -> Floats:
    """Return the NCP of ranges in a domain, all of them given as ``points``."""
    width = most - least
    return (high - low) / (width if width > 0 else 1.0)


def set_loss(counts: Ints, values: int, form: str = "share") -> Floats:
    """Return the NCP of sets; counts: their texts. values: texts of the domain, counting NULL as
    one.

    form: ``dop`` for (counts - 1) / (values - 1).
    """
    less = form == "dop"
    return np.where(counts > 1, (counts - less) / max(values - less, 1), 0.0)


def node_loss(tree: HierarchyTree, nodes: Ints) -> Floats:
    """Return the NCP of nodes of a hierarchy."""
    return tree.share[nodes]


def penalties(
    domains: Sequence[AttributeDomain], released: Mapping[str, pa.Array], form: str
) -> dict[str, Penalties]:
    """Return the penalties of every column, by name; released: the label of each class."""
    distinct_labels = {name: _distinct(labels) for name, labels in released.items()}
    ranged = [
        d
        for d in domains
        if d.number and d.tree is None and not shows_values(distinct_labels[d.name][0])
    ]
    ends = read_columns([d.sql_type for d in ranged], [distinct_labels[d.name][0] for d in ranged])
    read = dict(zip((d.name for d in ranged), ends, strict=True))
    by_column = {}
    for column in domains:
        labels, label_of = distinct_labels[column.name]
        distinct = _penalties(column, labels, read.get(column.name), form)
        by_column[column.name] = replace(
            distinct,
            loss=distinct.loss[label_of],
            height=distinct.height[label_of],
            star=distinct.star[label_of],
        )
    return by_column


def _distinct(column: pa.Array) -> tuple[pa.Array, Ints]:
    """Return the distinct labels and the position of each class's label among them."""
    column = plain(column)
    if not _is_text(column.type):
        return column, np.arange(len(column))
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    words = coded.dictionary
    labels = pa.concat_arrays([words, pa.nulls(1, words.type)])
    return labels, integers(coded.indices.fill_null(len(words)).cast(pa.int64()))


def _is_text(kind: pa.DataType) -> bool:
    texts = pa.types.is_string, pa.types.is_large_string, pa.types.is_dictionary
    return any(is_kind(kind) for is_kind in texts)


def _penalties(
    column: AttributeDomain, labels: pa.Array, ranges: Ranges | None, form: str
) -> Penalties:
    parsed: ParsedLabels
    if shows_values(labels):
        return _of_values(column, labels)
    if ranges is not None:
        parsed, loss = ranges, _of_ranges(column, ranges)
        height = loss
    elif column.tree is not None:
        nodes = read_nodes(column.tree, column.sql_type, labels)
        parsed, loss = nodes, node_loss(column.tree, nodes.node)
        height = node_height(column.tree, nodes.node)
    else:
        parsed, counts, loss = _of_sets(column, labels, form)
        height = loss if column.has_ranges(labels) else set_height(counts)
    loss = np.where(parsed.malformed, np.nan, loss)
    loss = np.where(parsed.empty, 0.0 if column.nulls else OTHER, loss)
    height = np.where(parsed.star, 1.0, np.where(parsed.empty, 0.0, height))
    quoted = not _is_text(labels.type) or bool(
        parsed.star.any() or pc.any(pc.match_substring(labels, "'")).as_py()
    )
    return Penalties(np.where(parsed.star, 1.0, loss), height, parsed.star, quoted)


def _of_ranges(column: AttributeDomain, ranges: Ranges) -> Floats:
    """Return the penalties of ranges, cut to the domain."""
    low = np.maximum(points(column.sql_type, ranges.low), column.least)
    high = np.minimum(points(column.sql_type, ranges.high), column.most)
    loss = range_loss(low, high, column.least, column.most)
    return np.where(low <= high, loss, OTHER)


def _of_values(column: AttributeDomain, values: pa.Array) -> Penalties:
    """Return the penalties of means or medians, which lie within the domain up to rounding."""
    star, shown_points = ~valid(values), points(column.sql_type, values)
    slack = ROUNDING * max(abs(column.least), abs(column.most))
    inside = (column.least - slack <= shown_points) & (shown_points <= column.most + slack)
    loss = np.where(star, 1.0, np.where(inside, 0.0, OTHER))
    return Penalties(loss, np.where(star, 1.0, 0.0), star, quoted=True, one_value=True)


class _SetLosses(NamedTuple):
    """Parsed sets. counts: values of the domain in each. loss: their NCP."""

    parsed: ParsedLabels
    counts: Ints
    loss: Floats


def _of_sets(column: AttributeDomain, labels: pa.Array, form: str) -> _SetLosses:
    raw_words = set(column.words)
    parsed = read_sets(labels, order_of(column.sql_type, raw_words))
    counts = np.array(
        [len(raw_words.intersection(words or ())) for words in parsed.words], np.int64
    )
    if column.has_ranges(labels):
        positions = {word: float(i) for i, word in enumerate(declared_order(column.sql_type))}
        loss = _spans({word: positions[word] for word in column.words}, parsed.words)
    else:
        meant = _spans(column.meant, parsed.words)
        loss = np.maximum(set_loss(counts, column.values, form), meant)
    return _SetLosses(parsed, counts, np.where(counts > 0, loss, OTHER))


def _spans(meant: Mapping[str, float], sets: Sequence[Collection[str] | None]) -> Floats:
    """Return the share of the range of some numbers that sets of their texts span, 0 without them.

    meant: the number that each text stands for: its own, a date, or its place in an order.
    """
    if not meant:
        return np.zeros(len(sets))
    width = (max(meant.values()) - min(meant.values())) or 1.0
    spans = ([meant[word] for word in words or () if word in meant] for words in sets)
    return np.array([(max(span) - min(span)) / width if span else 0.0 for span in spans])
