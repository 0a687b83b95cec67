"""Make the labels of classes, in any of the formats."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql import kernels
from anon_sql.core.arrow import valid
from anon_sql.core.columns import Categories, Numbers, is_number
from anon_sql.core.hierarchy.column import Hierarchical
from anon_sql.core.hierarchy.tree import HierarchyTree
from anon_sql.core.labels import grammar
from anon_sql.core.labels.one_value import one_values
from anon_sql.core.labels.types import is_one_value
from anon_sql.core.ordered import Ordered
from anon_sql.core.printing import printed
from anon_sql.core.running import Workers
from anon_sql.core.table import Column
from anon_sql.errors import AnonError, Argument

NULL_NODE, MIXED_NODE = -1, -2  # in place of a node: the class has only NULLs, or NULLs and values
Codes = npt.NDArray[np.int32]
Starts = npt.NDArray[np.int64]


def node_labels(
    function: str,
    column: Hierarchical,
    sql_type: str,
    order: Codes,
    starts: Starts,
    suppressed: bool,
    node_of_row: Codes | None,
    *,
    typed: bool,
) -> tuple[pa.Array, Codes]:
    """Return the distinct labels and the label of each class, int32[m].

    order, starts, suppressed: as in ``ClassRows``. node_of_row: int32[n], the node of each row
    that the method chose (-1 for NULL), None if it chose none. Raises AnonError for numbers in
    the format 'typed' if the nodes of the hierarchy are not ranges.
    """
    nodes = nodes_of(column, order, starts, node_of_row)
    if suppressed:
        nodes[-1] = MIXED_NODE
    used, inverse = np.unique(nodes, return_inverse=True)
    label_of, tree = inverse.astype(np.int32), column.tree
    if not typed:
        return pa.array([node_text(tree, node) for node in used.tolist()], pa.string()), label_of
    if not is_number(function, column.name, sql_type):
        sets = [_leaves(tree, node) for node in used.tolist()]
        return pa.array(sets, pa.list_(pa.string())), label_of
    if not tree.intervals:
        raise AnonError(
            function,
            Argument("format", "typed")
            + " needs a hierarchy whose nodes are ranges of a column's numbers",
            f"another for {column.name}",
            "use " + Argument("format", "label"),
        )
    ends = [_node_ends(tree, node) for node in used.tolist()]
    return pa.array(ends, pa.struct([("min", pa.string()), ("max", pa.string())])), label_of


def nodes_of(
    column: Hierarchical, order: Codes, starts: Starts, node_of_row: Codes | None
) -> npt.NDArray[np.int64]:
    """Return the node of each class, NULLS or MIXED, int64[m]; arguments as in ``node_labels``."""
    if node_of_row is not None:
        chosen: npt.NDArray[np.int64] = node_of_row[order[starts[:-1]]].astype(np.int64)
        return chosen
    present = column.codes < column.null_code
    low, high, nulls = kernels.hashing.extremes(
        order, starts, column.codes.astype(np.int64), present
    )
    nodes = column.tree.ancestor(
        np.where(low < 0, 0, column.codes[low]), np.where(high < 0, 0, column.codes[high])
    )
    class_nodes: npt.NDArray[np.int64] = np.where(
        low < 0, NULL_NODE, np.where(nulls > 0, MIXED_NODE, nodes)
    )
    return class_nodes


def node_text(tree: HierarchyTree, node: int) -> str | None:
    """Return the label of a node that ``nodes_of`` returned; None (NULL) for NULLS."""
    return None if node == NULL_NODE else grammar.STAR if node == MIXED_NODE else tree.texts[node]


def allowed_leaves(
    column: Hierarchical, labels: pa.Array
) -> tuple[npt.NDArray[np.bool_], list[Sequence[int]]]:
    """Return which labels are suppressed, and the leaves that each label covers, ascending.

    The number of leaves is the code of NULL. A label that is not a node covers nothing.
    """
    tree, null = column.tree, column.null_code
    leaf_of = {name: leaf for leaf, name in enumerate(tree.names[: tree.leaves])}
    if pa.types.is_string(labels.type):
        star = np.array([label == grammar.STAR for label in labels.to_pylist()], dtype=np.bool_)
    else:
        star = ~valid(labels)
    allowed: list[Sequence[int]] = []
    for label, suppressed in zip(labels.to_pylist(), star, strict=True):
        if suppressed:
            allowed.append(range(null + 1))
        elif label is None or label in ([], {"min": None, "max": None}):
            allowed.append([null])
        elif isinstance(label, str):
            node = tree.node_of.get(label)
            allowed.append([] if node is None else range(tree.first[node], tree.last[node] + 1))
        elif isinstance(label, dict):
            low, high = leaf_of.get(label["min"]), leaf_of.get(label["max"])
            allowed.append([] if low is None or high is None else range(low, high + 1))
        else:
            allowed.append(sorted(leaf_of[name] for name in label if name in leaf_of))
    return star, allowed


def _leaves(tree: HierarchyTree, node: int) -> list[str] | None:
    """Return the typed label of a node of a text column: its leaves, None for the whole domain."""
    if node == NULL_NODE:
        return []
    return None if node in (MIXED_NODE, tree.root) else tree.members(node)


def _node_ends(tree: HierarchyTree, node: int) -> dict[str, str | None] | None:
    """Return the typed label of a node of a column of numbers, None for the whole domain."""
    if node == NULL_NODE:
        return {"min": None, "max": None}
    if node in (MIXED_NODE, tree.root):
        return None
    members = tree.members(node)
    return {"min": members[0], "max": members[-1]}


Rows = npt.NDArray[np.int32]


def centres(
    order: Rows,
    starts: npt.NDArray[np.int64],
    points: npt.NDArray[np.float64],
    present: npt.NDArray[np.bool_],
) -> Rows:
    """Return the row of each class whose value is nearest to the mean, int32[m]; -1 for NULLs.

    Ties go to the smaller value. order, starts: the rows grouped by class; class i has the rows
    order[starts[i]:starts[i + 1]]. points, present: as in ``Numbers``.
    """
    class_of = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    kept = present[order]
    rows, class_of = order[kept], class_of[kept]
    count = np.bincount(class_of, minlength=len(starts) - 1)
    total = np.bincount(class_of, weights=points[rows], minlength=len(starts) - 1)
    away = np.abs(points[rows] - (total / np.maximum(count, 1))[class_of])
    ranked = np.lexsort((points[rows], away, class_of))
    rows_of_class = np.full(len(starts) - 1, -1, dtype=np.int32)
    nearest, positions = np.unique(class_of[ranked], return_index=True)
    rows_of_class[nearest] = rows[ranked[positions]]
    return rows_of_class


NONE, MIXED = -1, -2  # in place of a row: the class has only NULLs, or NULLs and values


@dataclass(frozen=True)
class Labels:
    """The labels of one column.

    printed: the u distinct labels. Type ``string`` in the format 'label'; in the format 'typed'
    ``struct<min: string, max: string>`` of printed ends for numbers, ``list<string>`` for text. In
    the formats 'mean' and 'median' a printed number, NULL for ``*`` and for NULLs, and text as in
    'label'.
    label_of: int32[m], the label of each class, an index into printed.
    """

    printed: pa.Array
    label_of: Codes


@dataclass(frozen=True)
class _Ends:
    """The distinct ranges of a column of numbers, before they are printed.

    low, high: int32[u], rows with the smallest and the largest value of each range, or NONE or
    MIXED. label_of: as in ``Labels``.
    """

    low: Codes
    high: Codes
    label_of: Codes


@dataclass(frozen=True)
class ClassRows:
    """The m classes of n rows.

    of_row: int32[n], the class of each row, m for a row that is not counted. order, starts: the
    counted rows grouped by class, class i is order[starts[i]:starts[i + 1]]. suppressed: whether
    the last class consists of the suppressed rows.
    """

    of_row: Codes
    order: Codes
    starts: npt.NDArray[np.int64]
    suppressed: bool


def make_labels(
    function: str,
    columns: Sequence[Column],
    types: Sequence[str],
    values: Sequence[pa.Array],
    classes: ClassRows,
    nodes: Codes | None,
    workers: Workers,
    *,
    form: str,
    centred: bool,
    cuts: Mapping[str, tuple[pa.Array, pa.Array]] = MappingProxyType({}),
) -> list[Labels]:
    """Return the labels of each column, with numbers printed as DuckDB prints them.

    types, values: SQL type and Arrow values of each column, in source order. nodes: int32[n, d],
    the hierarchy node of each row and column, None if the method chose none. form: the format.
    centred: the label of numbers is the value nearest to the mean of the class instead of a range.
    cuts: the first and the last value of the step of each row, by column, where values are cut.
    Raises AnonError for a hierarchy that the format 'typed' cannot express.
    """
    chosen = [None] * len(columns) if nodes is None else list(nodes.T)
    jobs = [
        (function, column, kind, column_values, classes, node_of, form, centred)
        for column, kind, column_values, node_of in zip(columns, types, values, chosen, strict=True)
    ]
    labels_or_ends = workers.map(_describe, jobs, [len(classes.of_row)] * len(jobs))
    ranged = [i for i, made in enumerate(labels_or_ends) if isinstance(made, _Ends)]
    whole = [
        cuts.get(column.name, (column_values, column_values))
        for column, column_values in zip(columns, values, strict=True)
    ]
    numbers = [i for i in ranged if not isinstance(columns[i], Ordered)]
    ends = [
        _values_at(end_values, rows)
        for i in numbers
        for end_values, rows in zip(
            whole[i], (labels_or_ends[i].low, labels_or_ends[i].high), strict=True
        )
    ]
    texts = iter(printed(ends, [types[i] for i in numbers for _ in range(2)]) if numbers else [])
    for i in ranged:
        column, made = columns[i], labels_or_ends[i]
        low, high = (
            (_written(column, made.low), _written(column, made.high))
            if isinstance(column, Ordered)
            else (next(texts), next(texts))
        )
        labels = (
            _structs(labels_or_ends[i], low, high)
            if form == "typed"
            else _ranges(labels_or_ends[i], low, high)
        )
        labels_or_ends[i] = Labels(labels, labels_or_ends[i].label_of)
    return labels_or_ends


def _describe(
    function: str,
    column: Column,
    sql_type: str,
    values: pa.Array,
    classes: ClassRows,
    nodes: Codes | None,
    form: str,
    centred: bool,
) -> Labels | _Ends:
    """Return the labels of one column; ranges as rows, to be printed together."""
    typed = form == "typed"
    if is_one_value(function, column.name, sql_type, form):
        grouped = (classes.order, classes.starts, classes.suppressed)
        labels = one_values(sql_type, values, *grouped, form)
        return Labels(labels, np.arange(len(labels), dtype=np.int32))
    if isinstance(column, Hierarchical):
        grouped = (classes.order, classes.starts, classes.suppressed)
        return Labels(*node_labels(function, column, sql_type, *grouped, nodes, typed=typed))
    if isinstance(column, Numbers):
        return _ends(column, classes, centred, nodes)
    return _sets(column, classes, typed, nodes)


def _ends(column: Numbers, classes: ClassRows, centred: bool, nodes: Codes | None) -> _Ends:
    """Return the distinct ranges of a column of numbers; nodes: see ``labels.grammar``."""
    low, high, nulls = kernels.hashing.extremes(
        classes.order, classes.starts, column.keys, column.present
    )
    if centred:
        low = high = centres(classes.order, classes.starts, column.points, column.present)
    of_class = grammar.of_classes(nodes, classes.order, classes.starts)
    low, high = grammar.shared_ends(of_class, column.keys, low, high)
    mixed = ((nulls > 0) & (low >= 0)) | (of_class == grammar.STARRED)
    mixed[-1] |= classes.suppressed
    kind = np.where(mixed, MIXED, np.where(low < 0, NONE, 0))
    hashes = np.zeros(len(kind), dtype=np.uint64)
    for part in (kind, *(np.where(kind == 0, column.keys[end], 0) for end in (low, high))):
        hashes = kernels.hashing.mix(hashes, part)
    once, label_of = kernels.hashing.number(hashes)
    low, high = (np.where(kind == 0, end, kind)[once].astype(np.int32) for end in (low, high))
    return _Ends(low, high, label_of)


def _written(column: Ordered, rows: Codes) -> pa.Array:
    """Return the values of rows as labels show them; NULL for NONE and MIXED."""
    words = pa.array([grammar.text(word) for word in column.words], pa.string())
    return words.take(_values_at(column.values, rows))


def _values_at(values: pa.Array, rows: Codes) -> pa.Array:
    """Return the values of rows; NULL for NONE and MIXED."""
    return values.take(pa.array(rows, mask=rows < 0))


def _ranges(ends: _Ends, low: pa.Array, high: pa.Array) -> pa.Array:
    """Return ranges in the format 'label'; low, high: printed ends."""
    ranges = pc.binary_join_element_wise("[", low, ", ", high, "]", "")
    # a bin of several values has equal rows but different ends
    is_one_value = pc.and_(pa.array(ends.low == ends.high), pc.equal(low, high))
    labels = pc.if_else(is_one_value, low, ranges)
    return pc.if_else(pa.array(ends.low == MIXED), grammar.STAR, labels)


def _structs(ends: _Ends, low: pa.Array, high: pa.Array) -> pa.Array:
    """Return ranges in the format 'typed'; low, high: printed ends."""
    return pa.StructArray.from_arrays(
        [low, high], names=["min", "max"], mask=pa.array(ends.low == MIXED)
    )


def _sets(column: Categories, classes: ClassRows, typed: bool, nodes: Codes | None) -> Labels:
    """Return the labels of a text column: the sets of values of its classes.

    nodes: see ``labels.grammar``.
    """
    values, count = column.values.to_pylist(), len(classes.starts) - 1
    if column.null_code < kernels.loss.BITS:
        masks = kernels.loss.masks_of(classes.of_row, count, column.codes)
        once, label_of = kernels.hashing.number(
            kernels.hashing.mix(masks, np.zeros(count, np.int64))
        )
        sets = [kernels.loss.codes_in(mask) for mask in masks[once].tolist()]
    else:
        ends, flat = kernels.hashing.distinct(classes.order, classes.starts, column.codes)
        once, label_of = kernels.hashing.number(kernels.hashing.set_hashes(ends, flat))
        sets = [flat[ends[i] : ends[i + 1]].tolist() for i in once]
    words = [grammar.words(codes, values) for codes in sets]
    of_class = grammar.of_classes(nodes, classes.order, classes.starts)
    suppressed = of_class == grammar.STARRED
    suppressed[-1] |= classes.suppressed
    if suppressed.any():
        label_of[suppressed] = len(words)
        words.append(None)
    if typed:
        return Labels(pa.array(words, pa.list_(pa.string())), label_of)
    written = {value: grammar.text(value) for value in values}
    texts = [
        grammar.STAR
        if members is None
        else grammar.joined([written[word] for word in members] or [""])
        for members in words
    ]
    empty = np.array([members == [] for members in words])
    return Labels(pa.array(texts, pa.string(), mask=empty), label_of)
