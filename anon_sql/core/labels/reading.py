"""Parse released labels, and find the values and rows that they cover."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core import stopping
from anon_sql.core.arrow import integers, plain, true, valid
from anon_sql.core.columns import (
    Categories,
    approximate,
    categories,
    is_number,
    numeric_keys,
    require_finite,
)
from anon_sql.core.hierarchy.column import Hierarchical, hierarchical
from anon_sql.core.hierarchy.tree import HierarchyTree
from anon_sql.core.labels import grammar
from anon_sql.core.labels.grammar import End, read_ends
from anon_sql.core.labels.one_value import ROUNDING, shows_values
from anon_sql.core.ordered import between, order_of
from anon_sql.core.printing import printed

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class ParsedLabels:
    """The m parsed labels of one column.

    star: bool[m], suppressed or the whole domain.
    empty: bool[m], only NULLs.
    malformed: bool[m], neither of these, and not a range or set of the column's type.
    """

    star: Bools
    empty: Bools
    malformed: Bools


@dataclass(frozen=True)
class Ranges(ParsedLabels):
    """Labels of numbers, dates or times.

    low, high: the outermost values of the column's type in the range; NULL if star, empty or
        malformed.
    exact_low, exact_high: bool[m], whether they are the ends as they were printed.
    """

    low: pa.Array
    high: pa.Array
    exact_low: Bools
    exact_high: Bools


@dataclass(frozen=True)
class ParsedNodes(ParsedLabels):
    """Labels of a column with a hierarchy.

    node: int64[m], the node of the tree; -1 where star, empty or malformed.
    """

    node: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Sets(ParsedLabels):
    """Labels of text.

    words: the values of each set in the order of the label; None where star, empty or malformed.
    """

    words: list[tuple[str, ...] | None]


def read_ranges(sql_type: str, labels: pa.Array) -> Ranges:
    """Parse labels, or structs with ``min`` and ``max``, of a column of numbers, dates or times."""
    return read_columns([sql_type], [labels])[0]


def read_columns(types: Sequence[str], columns: Sequence[pa.Array]) -> list[Ranges]:
    """Parse the labels of several columns as ``read_ranges`` does, with a single cast."""
    split = [_split(kind, plain(labels)) for kind, labels in zip(types, columns, strict=True)]
    ends = read_ends(types, [texts for _, _, texts in split])
    return [
        _ranges(kind, star, empty, *both_ends)
        for kind, (star, empty, _), both_ends in zip(types, split, ends, strict=True)
    ]


class _SplitLabels(NamedTuple):
    """star: bool[m], suppressed. empty: bool[m], only NULLs. ends: the printed lower and upper
    ends."""

    star: Bools
    empty: Bools
    ends: tuple[pa.Array, pa.Array]


def _split(sql_type: str, labels: pa.Array) -> _SplitLabels:
    """Return which labels are suppressed, which are NULL alone, and the two printed ends."""
    if not pa.types.is_struct(labels.type):
        labels = _text(labels)
        return _SplitLabels(
            true(pc.equal(labels, grammar.STAR)), ~valid(labels), grammar.ends(labels)
        )
    present = valid(labels)
    ends = [pc.if_else(pa.array(present), labels.field(end), None) for end in ("min", "max")]
    texts = ends if ends[0].type == pa.string() else printed(ends, [sql_type] * 2)
    return _SplitLabels(~present, present & ~valid(ends[0]) & ~valid(ends[1]), (texts[0], texts[1]))


def _ranges(sql_type: str, star: Bools, empty: Bools, low: End, high: End) -> Ranges:
    """Return the ranges between ends, malformed if an end is NULL or low > high."""
    ends = low.values, high.values
    readable = valid(ends[0]) & valid(ends[1])
    keys = numeric_keys(sql_type, pa.concat_arrays(ends))
    readable &= keys[: len(star)] <= keys[len(star) :]
    if pa.types.is_floating(ends[1].type):
        readable &= ~true(pc.is_nan(ends[1]))  # which is above every number
    malformed = ~readable & ~star & ~empty
    is_readable = pa.array(readable)
    low_values, high_values = (pc.if_else(is_readable, end, None) for end in ends)
    return Ranges(star, empty, malformed, low_values, high_values, low.exact, high.exact)


def read_nodes(tree: HierarchyTree, sql_type: str, released: pa.Array) -> ParsedNodes:
    """Parse labels, lists of leaves, or structs of the first and last leaf, ``min`` and ``max``.

    sql_type: of the column.
    """
    released = plain(released)
    star, empty = ~valid(released), np.zeros(len(released), dtype=np.bool_)
    if pa.types.is_struct(released.type):
        ends = [released.field(end) for end in ("min", "max")]
        empty = ~star & ~valid(ends[0]) & ~valid(ends[1])
        texts = [values.to_pylist() for values in printed(ends, [sql_type, sql_type])]
        nodes = [tree.above(pair) for pair in zip(*texts, strict=True)]
    elif pa.types.is_list(released.type) or pa.types.is_large_list(released.type):
        lists = released.to_pylist()
        empty = np.array([words == [] for words in lists], dtype=np.bool_)
        nodes = [tree.exact_node(words or []) for words in lists]
    else:
        labels = _text(released).to_pylist()
        empty, star = star, np.array([label == grammar.STAR for label in labels], dtype=np.bool_)
        nodes = [tree.node_of.get(label, -1) for label in labels]
    node = np.where(star | empty, -1, np.array(nodes, dtype=np.int64))
    return ParsedNodes(star, empty, (node < 0) & ~star & ~empty, node)


def read_sets(labels: pa.Array, order: Sequence[str] = ()) -> Sets:
    """Parse labels, or lists of text, of a text column; each distinct label is parsed once.

    order: the values of a column of ordered categories in their order. A range of them is the set
    of the values from its low end to its high end.
    """
    labels = plain(labels)
    if pa.types.is_list(labels.type) or pa.types.is_large_list(labels.type):
        lists = [None if words is None else tuple(words) for words in labels.to_pylist()]
        star = np.array([words is None for words in lists], dtype=np.bool_)
        empty = np.array([words == () for words in lists], dtype=np.bool_)
        malformed = np.array([None in (words or ()) for words in lists], dtype=np.bool_)
        return Sets(star, empty, malformed, _where(lists, ~empty & ~malformed))
    coded = _text(labels).dictionary_encode()
    words_of = [*(_words(label, order) for label in coded.dictionary.to_pylist()), None]
    empty = ~valid(labels)
    places = coded.indices.fill_null(len(words_of) - 1).to_pylist()
    star = true(pc.equal(_text(labels), grammar.STAR))
    words = [words_of[index] for index in places]
    unread = np.array([word_set is None for word_set in words], dtype=np.bool_)
    return Sets(star, empty, unread & ~star & ~empty, words)


def _words(label: str, order: Sequence[str]) -> tuple[str, ...] | None:
    """Return the values of a label; None for ``*``, a malformed label, or a range not of these."""
    try:
        words, ends = grammar.values(label), grammar.bounds(label)
    except ValueError:
        return None
    if words is None:
        return None if ends is None else between(order, *ends)
    return tuple(words)


def _where(lists: Sequence[tuple[str, ...] | None], kept: Bools) -> list[tuple[str, ...] | None]:
    return [words if keep else None for words, keep in zip(lists, kept.tolist(), strict=True)]


def _text(labels: pa.Array) -> pa.Array:
    return labels.cast(pa.string()) if pa.types.is_dictionary(labels.type) else labels


Ints = npt.NDArray[np.int64]
Places = npt.NDArray[Any]  # whole numbers
MIN_CODE, MAX_CODE = np.iinfo(np.int64).min, np.iinfo(np.int64).max  # MIN_CODE: NULL
BLOCK_ROWS = 4096  # that stay in the cache


@dataclass(frozen=True)
class Coverage:
    """One quasi-identifier: its n values, and which of them the k labels of c classes cover.

    codes: int64[n], of the values, in their order.
    label_of: int64[c], of each class.
    labels: the labels, those of text once each.
    low, high: int64[k], the least and greatest code that a label covers: all of them for ``*``,
        that of NULL for NULL alone, none for a malformed label.
    start, end: int64[k]; the codes of a set with gaps are ``flat[start:end]``, ascending.
    flat: int64[…], see ``start``.
    unknown: bool[k], whether the label names something that the column or its hierarchy lacks.
    column: the values if they are not compared as numbers.
    parsed: the parsed labels.
    """

    codes: Ints
    label_of: Ints
    labels: pa.Array
    low: Ints
    high: Ints
    start: Ints
    end: Ints
    flat: Ints
    unknown: Bools
    column: Categories | Hierarchical | None
    parsed: ParsedLabels

    @cached_property
    def ordered(self) -> Ints:
        """Return the codes, ascending."""
        return np.sort(self.codes)

    @cached_property
    def idle(self) -> Bools:
        """Return which labels cover no value of the column."""
        first = np.searchsorted(self.ordered, self.low)
        return np.asarray(first >= np.searchsorted(self.ordered, self.high, "right"))

    @cached_property
    def star(self) -> Bools:
        """Return which classes have ``*``."""
        star: Bools = self.parsed.star[self.label_of]
        return star


def codes_of(columns: Sequence[Coverage], places: Sequence[Places] | None = None) -> Places:
    """Return the codes of all columns, row by row: [n, d], of the type of the codes.

    places: for each column, the position of each row's value; None if there is one value per row.
    """
    rows = len(columns[0].codes if places is None else places[0])
    codes = np.empty((rows, len(columns)), dtype=columns[0].codes.dtype)
    for first in range(0, rows, BLOCK_ROWS):
        block = slice(first, first + BLOCK_ROWS)
        for i, column in enumerate(columns):
            codes[block, i] = column.codes[block if places is None else places[i][block]]
    return codes


def ranked(column: Coverage) -> Coverage:
    """Replace codes by their dense ranks; codes, low, high, start, end: int32."""
    is_first = np.append(True, column.ordered[1:] != column.ordered[:-1])[: len(column.ordered)]
    codes = column.ordered[is_first]
    return replace(
        column,
        codes=_narrow(np.searchsorted(codes, column.codes)),
        low=_narrow(np.searchsorted(codes, column.low)),
        high=_narrow(np.searchsorted(codes, column.high, "right") - 1),
        start=_narrow(column.start),
        end=_narrow(column.end),
        flat=np.searchsorted(codes, column.flat),
    )


def _narrow(numbers: Ints) -> Any:
    return numbers.astype(np.int32)


def labels_of(columns: Sequence[Coverage]) -> tuple[Ints, ...]:
    """Return low, high, start, end int64[c, d] and flat, of all columns."""
    shift = np.cumsum([0, *(len(column.flat) for column in columns)]).tolist()
    places = [(column.label_of, offset) for column, offset in zip(columns, shift, strict=False)]
    paired = list(zip(columns, places, strict=True))
    return (
        np.column_stack([column.low[label_ids] for column, (label_ids, _) in paired]),
        np.column_stack([column.high[label_ids] for column, (label_ids, _) in paired]),
        np.column_stack(
            [column.start[label_ids] + offset for column, (label_ids, offset) in paired]
        ),
        np.column_stack([column.end[label_ids] + offset for column, (label_ids, offset) in paired]),
        np.concatenate([column.flat for column in columns]),
    )


def coverage(
    function: str,
    name: str,
    sql_type: str,
    values: pa.Array,
    released: pa.Array,
    rows: pa.StructArray | None,
) -> Coverage:
    """Return which of a column's values its labels cover.

    Raises AnonError for values that no label can represent.

    rows: of the column's hierarchy, None without one.
    """
    stopping.check(function)
    number = is_number(function, name, sql_type)
    labels, label_of = distinct(released)
    stopping.check(function)
    if number and shows_values(released):
        require_finite(function, name, values)
        return _of_values(sql_type, values, released)
    if rows is not None:
        column = hierarchical(function, name, sql_type, values, rows)
        return _of_tree(column, sql_type, labels, label_of)
    if number:
        require_finite(function, name, values)
        return _of_ranges(sql_type, values, labels, label_of)
    return _of_sets(categories(name, values), sql_type, labels, label_of)


def distinct(released: pa.Array) -> tuple[pa.Array, Ints]:
    """Return the distinct labels and the position of each class's; structs and lists stay as they
    are."""
    if pa.types.is_nested(released.type):
        return released, np.arange(len(released))
    coded = released.cast(pa.string()).dictionary_encode()  # an ENUM has labels that no class has
    labels = coded.dictionary
    if coded.null_count:
        labels = pa.concat_arrays([labels, pa.nulls(1, pa.string())])
    places: Ints = integers(coded.indices.fill_null(len(labels) - 1).cast(pa.int64()))
    return labels, places


def _of_values(sql_type: str, values: pa.Array, released: pa.Array) -> Coverage:
    """Return what means or medians cover: every value but NULL, since they describe no single row.

    NULL covers everything; a value outside the range of the column is unknown and covers nothing.
    """
    codes, present, star = numeric_keys(sql_type, values), valid(values), ~valid(released)
    if len(codes) and codes.min() == MIN_CODE:  # the code of NULL
        codes = np.unique(codes, return_inverse=True)[1].reshape(-1).astype(np.int64)
    present_values = approximate(sql_type, values)[present]
    shown_values = approximate(sql_type, released)
    lowest_value, highest_value = (
        (present_values.min(), present_values.max()) if len(present_values) else (np.inf, -np.inf)
    )
    slack = ROUNDING * np.abs(present_values).max(initial=0.0)
    unknown = ~star & (
        (shown_values < lowest_value - slack) | (shown_values > highest_value + slack)
    )
    lowest, highest = (
        (codes[present].min(), codes[present].max())
        if len(present_values)
        else (MAX_CODE, MIN_CODE)
    )
    low, high = np.where(unknown, MAX_CODE, lowest), np.where(unknown, MIN_CODE, highest)
    nothing = np.zeros(len(released), np.bool_)
    return _stretches(
        np.where(present, codes, MIN_CODE),
        np.arange(len(released)),
        released,
        low,
        high,
        unknown,
        None,
        ParsedLabels(star, nothing, nothing),
    )


def _of_ranges(sql_type: str, values: pa.Array, labels: pa.Array, label_of: Ints) -> Coverage:
    parsed = read_ranges(sql_type, labels)
    ends = [end.cast(values.type) for end in (parsed.low, parsed.high)]  # its time zone may differ
    keys = numeric_keys(sql_type, pa.concat_arrays([values, *ends]))
    if len(keys) and keys.min() == MIN_CODE:  # the code of NULL
        keys = np.unique(keys, return_inverse=True)[1].reshape(-1).astype(np.int64)
    codes, low, high = np.split(keys, [len(values), len(values) + len(labels)])
    codes = np.where(valid(values), codes, MIN_CODE)
    unknown = np.zeros(len(labels), np.bool_)
    return _stretches(codes, label_of, labels, low, high, unknown, None, parsed)


def _of_sets(column: Categories, sql_type: str, labels: pa.Array, label_of: Ints) -> Coverage:
    code_of = {word: code for code, word in enumerate(column.values.to_pylist())}
    parsed = read_sets(labels, order_of(sql_type, code_of))
    sets = [sorted({code_of[w] for w in words or () if w in code_of}) for words in parsed.words]
    size = np.array([len(codes) for codes in sets], dtype=np.int64)
    low = np.array([codes[0] if codes else MAX_CODE for codes in sets], dtype=np.int64)
    high = np.array([codes[-1] if codes else MIN_CODE for codes in sets], dtype=np.int64)
    unknown = np.array(
        [any(w not in code_of for w in words or ()) for words in parsed.words], np.bool_
    )
    gaps = (size > 0) & (high - low + 1 > size)
    end = np.cumsum(np.where(gaps, size, 0))
    start = end - np.where(gaps, size, 0)
    listed = (codes for codes, gap in zip(sets, gaps.tolist(), strict=True) if gap)
    flat = (start, end, np.fromiter(chain.from_iterable(listed), np.int64))
    return _stretches(_coded(column), label_of, labels, low, high, unknown, column, parsed, flat)


def _of_tree(column: Hierarchical, sql_type: str, labels: pa.Array, label_of: Ints) -> Coverage:
    tree = column.tree
    if pa.types.is_struct(labels.type):
        ends = read_ranges(sql_type, labels)
        texts = printed([ends.low, ends.high], [sql_type, sql_type])
        low, high = (np.array([tree.leaf_of.get(x, -1) for x in t.to_pylist()]) for t in texts)
        parsed: ParsedLabels = ends
    else:
        nodes = read_nodes(tree, sql_type, labels)
        low, high = (np.append(leaves, -1)[nodes.node] for leaves in (tree.first, tree.last))
        parsed = nodes
    unknown = (low < 0) | (high < low)
    low, high = np.where(unknown, MAX_CODE, low), np.where(unknown, MIN_CODE, high)
    return _stretches(_coded(column), label_of, labels, low, high, unknown, column, parsed)


def _coded(column: Categories | Hierarchical) -> Ints:
    codes: Ints = column.codes.astype(np.int64)
    codes[column.codes == column.null_code] = MIN_CODE
    return codes


def _stretches(
    codes: Ints,
    label_of: Ints,
    labels: pa.Array,
    low: Ints,
    high: Ints,
    unknown: Bools,
    column: Categories | Hierarchical | None,
    parsed: ParsedLabels,
    flat: tuple[Ints, Ints, Ints] | None = None,
) -> Coverage:
    """Return the coverage of labels that cover all codes from ``low`` to ``high``.

    flat: start, end and the codes of the sets with gaps; None without such sets.
    """
    low = np.where(parsed.star | parsed.empty, MIN_CODE, np.where(parsed.malformed, MAX_CODE, low))
    high = np.where(
        parsed.star, MAX_CODE, np.where(parsed.malformed | parsed.empty, MIN_CODE, high)
    )
    none = np.zeros(len(low), dtype=np.int64)
    unknown = unknown & ~parsed.star & ~parsed.empty
    listed = flat or (none, none, none[:0])
    return Coverage(codes, label_of, labels, low, high, *listed, unknown, column, parsed)
