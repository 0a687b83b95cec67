"""Parse the released labels of one quasi-identifier, in either format."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core.arrow import plain, true, valid
from anon_sql.core.columns import numeric_keys
from anon_sql.core.hierarchy.tree import Tree
from anon_sql.core.labels import grammar
from anon_sql.core.labels.ends import End, read_ends
from anon_sql.core.printing import printed

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Said:
    """The m parsed labels of one column.

    star: bool[m], suppressed or the whole domain. empty: bool[m], only NULLs. malformed: bool[m],
    neither of these, and not a range or set of the column's type.
    """

    star: Bools
    empty: Bools
    malformed: Bools


@dataclass(frozen=True)
class Ranges(Said):
    """Labels of numbers, dates or times.

    low, high: the outermost values of the column's type in the range; NULL where star, empty or
    malformed. exact_low, exact_high: bool[m], whether they are the ends as they were printed.
    """

    low: pa.Array
    high: pa.Array
    exact_low: Bools
    exact_high: Bools


@dataclass(frozen=True)
class Nodes(Said):
    """Labels of a column with a hierarchy.

    node: int64[m], the node of the tree; -1 where star, empty or malformed.
    """

    node: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Sets(Said):
    """Labels of text.

    words: the values of each set in the order of the label; None where star, empty or malformed.
    """

    words: list[tuple[str, ...] | None]


def read_ranges(sql_type: str, shown: pa.Array) -> Ranges:
    """Parse labels, or structs with ``min`` and ``max``, of a column of numbers, dates or times."""
    return read_columns([sql_type], [shown])[0]


def read_columns(types: Sequence[str], columns: Sequence[pa.Array]) -> list[Ranges]:
    """Parse the labels of several columns as ``read_ranges`` does, with a single cast."""
    split = [_split(kind, plain(shown)) for kind, shown in zip(types, columns, strict=True)]
    ends = read_ends(types, [texts for _, _, texts in split])
    return [
        _ranges(kind, star, empty, *both)
        for kind, (star, empty, _), both in zip(types, split, ends, strict=True)
    ]


def _split(sql_type: str, shown: pa.Array) -> tuple[Bools, Bools, tuple[pa.Array, pa.Array]]:
    """Return which labels are suppressed, which are NULL alone, and the two printed ends."""
    if not pa.types.is_struct(shown.type):
        shown = _text(shown)
        return true(pc.equal(shown, grammar.STAR)), ~valid(shown), grammar.ends(shown)
    present = valid(shown)
    given = [pc.if_else(pa.array(present), shown.field(end), None) for end in ("min", "max")]
    texts = given if given[0].type == pa.string() else printed(given, [sql_type] * 2)
    return ~present, present & ~valid(given[0]) & ~valid(given[1]), (texts[0], texts[1])


def _ranges(sql_type: str, star: Bools, empty: Bools, low: End, high: End) -> Ranges:
    """Return the ranges between ends, malformed where an end is NULL or low > high."""
    ends = low.values, high.values
    readable = valid(ends[0]) & valid(ends[1])
    keys = numeric_keys(sql_type, pa.concat_arrays(ends))
    readable &= keys[: len(star)] <= keys[len(star) :]
    if pa.types.is_floating(ends[1].type):
        readable &= ~true(pc.is_nan(ends[1]))  # which is above every number
    malformed = ~readable & ~star & ~empty
    known = pa.array(readable)
    least, most = (pc.if_else(known, end, None) for end in ends)
    return Ranges(star, empty, malformed, least, most, low.exact, high.exact)


def read_nodes(tree: Tree, sql_type: str, shown: pa.Array) -> Nodes:
    """Parse labels, lists of leaves, or structs of the first and last leaf, ``min`` and ``max``.

    sql_type: of the column.
    """
    shown = plain(shown)
    star, empty = ~valid(shown), np.zeros(len(shown), dtype=np.bool_)
    if pa.types.is_struct(shown.type):
        ends = [shown.field(end) for end in ("min", "max")]
        empty = ~star & ~valid(ends[0]) & ~valid(ends[1])
        texts = [values.to_pylist() for values in printed(ends, [sql_type, sql_type])]
        nodes = [tree.above(pair) for pair in zip(*texts, strict=True)]
    elif pa.types.is_list(shown.type) or pa.types.is_large_list(shown.type):
        lists = shown.to_pylist()
        empty = np.array([words == [] for words in lists], dtype=np.bool_)
        nodes = [tree.whole(words or []) for words in lists]
    else:
        labels = _text(shown).to_pylist()
        empty, star = star, np.array([label == grammar.STAR for label in labels], dtype=np.bool_)
        nodes = [tree.node_of.get(label, -1) for label in labels]
    node = np.where(star | empty, -1, np.array(nodes, dtype=np.int64))
    return Nodes(star, empty, (node < 0) & ~star & ~empty, node)


def read_sets(shown: pa.Array) -> Sets:
    """Parse labels, or lists of text, of a text column; each distinct label is parsed once."""
    shown = plain(shown)
    if pa.types.is_list(shown.type) or pa.types.is_large_list(shown.type):
        lists = [None if words is None else tuple(words) for words in shown.to_pylist()]
        star = np.array([words is None for words in lists], dtype=np.bool_)
        empty = np.array([words == () for words in lists], dtype=np.bool_)
        malformed = np.array([None in (words or ()) for words in lists], dtype=np.bool_)
        return Sets(star, empty, malformed, _where(lists, ~empty & ~malformed))
    coded = _text(shown).dictionary_encode()
    known = [*map(_words, coded.dictionary.to_pylist()), None]
    empty = ~valid(shown)
    at = coded.indices.fill_null(len(known) - 1).to_pylist()
    star = true(pc.equal(_text(shown), grammar.STAR))
    words = [known[place] for place in at]
    unread = np.array([each is None for each in words], dtype=np.bool_)
    return Sets(star, empty, unread & ~star & ~empty, words)


def _words(label: str) -> tuple[str, ...] | None:
    """Return the values of a label; None for ``*``, a range or a malformed label."""
    try:
        words = grammar.values(label)
    except ValueError:
        return None
    return None if words is None else tuple(words)


def _where(lists: Sequence[tuple[str, ...] | None], kept: Bools) -> list[tuple[str, ...] | None]:
    return [words if keep else None for words, keep in zip(lists, kept.tolist(), strict=True)]


def _text(shown: pa.Array) -> pa.Array:
    return shown.cast(pa.string()) if pa.types.is_dictionary(shown.type) else shown
