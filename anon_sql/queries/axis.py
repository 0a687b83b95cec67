"""The axis of a quasi-identifier: the share of each label's values that satisfies a condition.

The axis of a number, date or time has as points the ends of its labels and the constants of its
conditions. A value from each gap between points represents the gap, because no condition changes
within it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core.arrow import true, valid
from anon_sql.core.columns import numeric_keys
from anon_sql.core.hierarchy.tree import HierarchyTree
from anon_sql.core.labels.reading import (
    ParsedLabels,
    ParsedNodes,
    Ranges,
    read_nodes,
    read_ranges,
    read_sets,
)
from anon_sql.core.ordered import order_of
from anon_sql.core.printing import cast, evaluated
from anon_sql.errors import AnonError
from anon_sql.measures.loss import AttributeDomain, doubles
from anon_sql.measures.pair import HINT

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Matches(NamedTuple):
    """One entry per label. share: of its values that satisfy a condition. must, may: whether all
    do, and whether any does."""

    share: Floats
    must: Bools
    may: Bools


@dataclass(frozen=True)
class Spans:
    """Labels of numbers: the first and the last point of each, int64[L]."""

    low: Ints
    high: Ints


@dataclass(frozen=True)
class Members:
    """Labels of sets. points: of all labels, one after the other. sizes: the number of points of
    each."""

    points: Ints
    sizes: Ints


class DomainMatch(NamedTuple):
    """share: of the domain that satisfies a condition. must, may: whether all and any values do."""

    share: float
    must: bool
    may: bool


@dataclass(frozen=True)
class ConditionAxis:
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
    parsed: ParsedLabels
    covered: Spans | Members

    @classmethod
    def of_sets(
        cls, point: Bools, null: Bools, nulls: bool, parsed: ParsedLabels, covered: Members
    ) -> "ConditionAxis":
        """Return an axis without gaps."""
        return cls(point, point[:0], null, nulls, 1.0, np.zeros(0), parsed, covered)

    def everything(self, condition: int) -> DomainMatch:
        """Return the share of the domain that satisfies a condition, and whether all and any values
        do. NULL counts as one value."""
        point, gap, null = (
            self.point[:, condition],
            self.gap[:, condition],
            bool(self.null[condition]),
        )
        if not len(point):
            return DomainMatch(float(null), null, null)
        must = bool(point.all() and gap.all() and (null or not self.nulls))
        may = bool(point.any() or gap.any() or (null and self.nulls))
        null_weight = self.point_weight * self.nulls
        weight = self.point_weight * len(point) + self.gap_weight.sum()
        if weight == 0:
            return DomainMatch(float(point[0]), must, may)
        true = self.point_weight * point.sum() + (self.gap_weight * gap).sum()
        return DomainMatch(float((true + null_weight * null) / (weight + null_weight)), must, may)

    def matches(self, condition: int) -> Matches:
        """Return the share of each label that satisfies a condition."""
        point, gap = self.point[:, condition], self.gap[:, condition]
        covered = (
            _in_sets(self.covered, point)
            if isinstance(self.covered, Members)
            else self._in_spans(self.covered, point, gap)
        )
        share, must, may = covered
        empty, star = self.parsed.empty, self.parsed.star
        share[empty] = must[empty] = may[empty] = self.null[condition]
        share[star], must[star], may[star] = self.everything(condition)
        return Matches(share, must, may)

    def _in_spans(self, spans: Spans, point: Bools, gap: Bools) -> Matches:
        low, high = spans.low, spans.high
        if not len(point):
            none = np.zeros(len(low), np.bool_)
            return Matches(np.zeros(len(low)), none, none.copy())
        points, gaps = _sums(point), _sums(gap)
        hits = points[high + 1] - points[low] + gaps[high] - gaps[low]
        weights, true = _sums(self.gap_weight), _sums(self.gap_weight * gap)
        weight = self.point_weight * (high + 1 - low) + weights[high] - weights[low]
        matched = self.point_weight * (points[high + 1] - points[low]) + true[high] - true[low]
        share = np.where(weight > 0, matched / np.where(weight > 0, weight, 1.0), point[low])
        return Matches(share, hits == 2 * (high - low) + 1, hits > 0)


def members(listed: Sequence[Sequence[int]]) -> Members:
    """Return labels as the positions of their points."""
    flat = np.array([place for places in listed for place in places], dtype=np.int64)
    return Members(flat, np.array([len(places) for places in listed], dtype=np.int64))


def _in_sets(members: Members, point: Bools) -> Matches:
    owner = np.repeat(np.arange(len(members.sizes)), members.sizes)
    hits = np.bincount(owner, weights=point[members.points], minlength=len(members.sizes))
    return Matches(hits / np.maximum(members.sizes, 1), hits == members.sizes, hits > 0)


def _sums(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    kind = np.float64 if values.dtype == np.float64 else np.int64
    return np.concatenate((np.zeros(1, kind), np.cumsum(values, dtype=kind)))


@dataclass(frozen=True)
class Quasi:
    """A quasi-identifier with m conditions.

    ends: its smallest and its largest value, an array of two. values: its distinct values,
    including NULL, if it is text or has a hierarchy. truths: bool[len(values), m], the conditions
    on each. conditions: SQL that ``query`` has accepted, with every name quoted. constants: the
    texts that they compare the column with. time_zone: of instants in constants without one.
    """

    function: str
    domain: AttributeDomain
    ends: pa.Array
    values: pa.Array
    truths: Bools
    conditions: Sequence[str]
    constants: Sequence[str]
    time_zone: str

    @property
    def word_type(self) -> str:
        """The SQL type as which conditions compare a text."""
        kind = self.domain.sql_type
        return "VARCHAR" if kind.startswith("ENUM") else kind

    @cached_property
    def place_of(self) -> Mapping[str | None, int]:
        """The position of each text in ``values``."""
        values = self.values
        if pa.types.is_boolean(values.type):
            values = pc.if_else(values, "true", "false")
        return {word: place for place, word in enumerate(values.to_pylist())}

    def truth(self, values: pa.Array, sql_type: str) -> Bools:
        """Return which conditions hold for each value, cast to a SQL type, bool[n, m]."""
        name = self.domain.name
        try:
            truths = evaluated({name: values}, [sql_type], self.conditions, self.time_zone)
        except ValueError:
            rule = "a condition must suit the type of its column"
            raise AnonError(self.function, rule, f"another type on {name}") from None
        return np.column_stack([true(column) for column in truths]).astype(np.bool_)

    def word_truth(self, words: Sequence[str | None]) -> Bools:
        """Return which conditions hold for each text, bool[n, m]. For texts of the raw column, the
        user's database has evaluated them."""
        places = np.array([self.place_of.get(word, -1) for word in words], dtype=np.int64)
        truths = np.zeros((len(words), len(self.conditions)), dtype=np.bool_)
        truths[places >= 0] = self.truths[places[places >= 0]]
        strange = np.flatnonzero(places < 0)
        if len(strange):
            texts = pa.array([words[i] for i in strange.tolist()], pa.string())
            truths[strange] = self.truth(texts, self.word_type)
        return truths

    def other(self) -> AnonError:
        """Return the error for a label that covers no value of the raw column."""
        rule = f"a label of {self.domain.name} must name what the raw table holds"
        return AnonError(self.function, rule, "one with nothing of it", HINT)


def axis_of_words(quasi: Quasi, labels: pa.Array) -> ConditionAxis:
    """Return the axis of a text and its labels. Values that the raw column lacks are left out.

    Raises AnonError for a label that has no other value.
    """
    words = [word for word in quasi.place_of if word is not None]
    parsed = read_sets(labels, order_of(quasi.domain.sql_type, words))
    place_of = {word: place for place, word in enumerate(words)}
    listed = [[place_of[w] for w in label or () if w in place_of] for label in parsed.words]
    if any(not places for places, label in zip(listed, parsed.words, strict=True) if label):
        raise quasi.other()
    nulls = quasi.domain.nulls
    null = np.asarray(quasi.word_truth([None] * nulls).any(axis=0))
    return ConditionAxis.of_sets(quasi.word_truth(words), null, nulls, parsed, members(listed))


_COUNTED = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "DATE")  # and U…
_MIDDLE = {  # a value between low and high
    "TIME": "make_timestamp((epoch_us(low) + epoch_us(high)) // 2)::TIME",
    "TIME_NS": "make_timestamp_ns((epoch_ns(low) + epoch_ns(high)) // 2)::TIME_NS",
    "TIMESTAMP_NS": "make_timestamp_ns(epoch_ns(low) // 2 + epoch_ns(high) // 2)",
    "TIMESTAMP WITH TIME ZONE": "to_timestamp(0) + to_microseconds("
    "epoch_us(low) // 2 + epoch_us(high) // 2)",
} | dict.fromkeys(
    ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS"),
    "make_timestamp(epoch_us(low) // 2 + epoch_us(high) // 2)",
)


def axis_of_numbers(quasi: Quasi, labels: pa.Array) -> ConditionAxis:
    """Return the axis of a column and its labels, between the ends of the raw column.

    Raises AnonError for a label that covers nothing between them.
    """
    sql_type, nulls = quasi.domain.sql_type, quasi.domain.nulls
    parsed = read_ranges(sql_type, labels)
    points, covered = _points(quasi, sql_type, parsed)
    gaps, gap_ids = _gaps(sql_type, points)
    values = pa.concat_arrays([points, gaps, pa.nulls(1, points.type)])
    truths = quasi.truth(values, sql_type)
    point = truths[: len(points)]
    gap = point[:-1].copy()  # as the point before
    gap[gap_ids] = truths[len(points) : -1]
    weight = 1.0 if sql_type.lstrip("U") in _COUNTED else 0.0
    width = np.maximum(np.diff(doubles(sql_type, points)) - weight, 0.0)
    return ConditionAxis(point, gap, truths[-1], nulls, weight, width, parsed, covered)


def _points(quasi: Quasi, sql_type: str, parsed: Ranges) -> tuple[pa.Array, Spans]:
    """Return the points in order, and the first and the last point of each label."""
    constants = cast([pa.array(quasi.constants, pa.string())], [sql_type], quasi.time_zone)
    arrays = [quasi.ends, *constants, parsed.low, parsed.high]
    # the time zones of the types may differ
    ends = pa.concat_arrays([values.cast(parsed.low.type) for values in arrays])
    keys, inside = numeric_keys(sql_type, ends), valid(ends)
    if inside[0]:
        inside &= (keys >= keys[0]) & (keys <= keys[1])
    else:
        inside[:] = False  # the raw column holds NULL alone
    point_keys, first = np.unique(keys[inside], return_index=True)
    labels = len(parsed.star)
    low, high = np.split(keys[len(keys) - 2 * labels :], 2)
    first_at, last_at = (
        np.searchsorted(point_keys, low),
        np.searchsorted(point_keys, high, "right") - 1,
    )
    is_range = ~parsed.star & ~parsed.empty
    if is_range.any() and (parsed.malformed | (first_at > last_at))[is_range].any():
        raise quasi.other()
    low, high = (np.where(is_range, place, 0) for place in (first_at, last_at))
    return ends.take(pa.array(np.flatnonzero(inside)[first])), Spans(low, high)


def _gaps(sql_type: str, points: pa.Array) -> tuple[pa.Array, Ints]:
    """Return a value from each gap that has one, and the position of the gap."""
    if len(points) < 2:
        return points[:0], np.zeros(0, dtype=np.int64)
    low, high = points[:-1], points[1:]
    middle = _MIDDLE.get(sql_type, "low / 2 + high / 2")
    middle = "high - 1" if sql_type.lstrip("U") in _COUNTED else middle
    wanted = [f"TRY_CAST({middle} AS {sql_type})"]
    values = evaluated({"low": low, "high": high}, [sql_type, sql_type], wanted)[0]
    keys = numeric_keys(sql_type, pa.concat_arrays([low, values, high]))
    below, key, above = np.split(keys, 3)
    between = valid(values) & (key > below) & (key < above)
    return values.filter(pa.array(between)), np.flatnonzero(between)


@dataclass(frozen=True)
class TypedLeaves:
    """The leaves of a tree that the column's type can represent, numbers in order, text sorted by
    bytes. words: as text. values: in the column's type."""

    words: list[str]
    values: pa.Array

    def below(self, tree: HierarchyTree, nodes: ParsedNodes) -> list[list[int]]:
        """Return the positions of the leaves below each node, ascending; none for -1."""
        place_of = {word: place for place, word in enumerate(self.words)}
        return [
            sorted(
                place_of[name]
                for name in tree.names[tree.first[node] : tree.last[node] + 1]
                if name in place_of
            )
            if node >= 0
            else []
            for node in nodes.node
        ]


def leaves_of(column: AttributeDomain, tree: HierarchyTree) -> TypedLeaves:
    """Return the leaves of a column's hierarchy."""
    names = pa.array(tree.names[: tree.leaves], pa.string())
    values = cast([names], [column.sql_type])[0]
    present = valid(values)
    if column.sql_type.startswith("ENUM"):
        present = valid(evaluated({"leaf": names}, [column.sql_type], ["leaf"])[0])
    places = np.flatnonzero(present)
    if column.number:
        keys = numeric_keys(column.sql_type, values)[places]
        places = places[np.argsort(keys, kind="stable")]
    else:
        order = sorted(places, key=lambda place: tree.names[place].encode())
        places = np.array(order, dtype=np.int64)
    return TypedLeaves([tree.names[place] for place in places], values.take(pa.array(places)))


def axis_of_leaves(quasi: Quasi, tree: HierarchyTree, labels: pa.Array) -> ConditionAxis:
    """Return the axis of a column with a hierarchy.

    Raises AnonError if the hierarchy lacks a value of the column.
    """
    leaves, below, parsed = read_labels(quasi, tree, labels)
    if quasi.domain.number:
        values = pa.concat_arrays([leaves.values, pa.nulls(1, leaves.values.type)])
        truths = quasi.truth(values, quasi.domain.sql_type)
    else:
        truths = quasi.word_truth([*leaves.words, None])
    if any(not places for places, node in zip(below, parsed.node, strict=True) if node >= 0):
        raise quasi.other()
    return ConditionAxis.of_sets(
        truths[:-1], truths[-1], quasi.domain.nulls, parsed, members(below)
    )


class LeafLabels(NamedTuple):
    """leaves: of the hierarchy. below: the positions of those below each label. parsed: the
    labels."""

    leaves: TypedLeaves
    below: list[list[int]]
    parsed: ParsedNodes


def read_labels(quasi: Quasi, tree: HierarchyTree, labels: pa.Array) -> LeafLabels:
    """Return the leaves of a hierarchy, the positions of those below each label, and the parsed
    labels.

    Raises AnonError if the hierarchy lacks a value of the column.
    """
    leaves = leaves_of(quasi.domain, tree)
    _require_covered(quasi, leaves)
    parsed = read_nodes(tree, quasi.domain.sql_type, labels)
    return LeafLabels(leaves, leaves.below(tree, parsed), parsed)


def _require_covered(quasi: Quasi, leaves: TypedLeaves) -> None:
    values = quasi.values.drop_null()
    if quasi.domain.number:
        both = pa.concat_arrays([values.cast(leaves.values.type), leaves.values])
        keys, leaf_keys = np.split(numeric_keys(quasi.domain.sql_type, both), [len(values)])
        lacks = int((~np.isin(keys, leaf_keys)).sum())
    else:
        lacks = len(quasi.place_of.keys() - set(leaves.words) - {None})
    if lacks:
        raise AnonError(
            quasi.function,
            f"the hierarchy must cover every value of {quasi.domain.name}",
            f"{lacks:,} value{'' if lacks == 1 else 's'} that it lacks",
            "check_hierarchy() lists them",
        )
