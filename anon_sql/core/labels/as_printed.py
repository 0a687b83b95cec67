"""Distinguish the values of a released column from its labels.

A release prints a value in quotes if it looks like a label, so its values and labels are distinct.
A table that another program wrote, or that is measured against itself, shows the same value
without quotes. A text that equals a value of the raw column is this value, whatever it looks like.
The exception is a table that a release function printed:

- at least one text is a label that a release prints, and is not a raw value; and
- every text that equals a raw value and looks like a label is a label that a release prints.

In such a table ``{a, b}`` is the set, although the raw column may have a value ``{a, b}``: that
value is printed as ``'{a, b}'``. In any other table, a row with ``*`` in every quasi-identifier is
suppressed if ``*`` cannot be a value of one of them.

NULL is the label of a class of NULLs, except in a table that shows no label but only values, as the
format 'midpoint' and other programs do. There it may hide any value. It is read so if a column of
numbers shows one value of each class, or if more rows have NULL than in the raw table.

The readers of labels know only what a release prints. So every host passes the columns of a release
through ``as_printed`` or ``counted_as_printed`` first, which write these values as a release would.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core.arrow import true, valid
from anon_sql.core.labels import grammar
from anon_sql.core.labels.one_value import shows_values

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
_QUOTE_CANDIDATES = r"""[\[\]{},'"\\\x00-\x1f\x7f-\x{9f}]|^\*$|^NULL$|^$"""  # more than need quotes


@dataclass(frozen=True)
class RawValues:
    """The distinct values of a raw column as text, none for numbers, dates and times.

    nodes: the labels of its hierarchy that are not leaves, None without a hierarchy. nulls: the
    number of rows with NULL.
    """

    words: pa.Array
    nodes: pa.Array | None
    nulls: int = 0

    @cached_property
    def quoted(self) -> Mapping[str, str]:
        """Return how a release prints each value that it does not print as it is."""
        may_need_quotes = pc.or_(
            pc.match_substring_regex(self.words, _QUOTE_CANDIDATES),
            pc.not_equal(pc.utf8_trim_whitespace(self.words), self.words),
        )
        candidates = self.words.filter(may_need_quotes).to_pylist()
        return {word: text for word in candidates if (text := grammar.text(word)) != word}

    @cached_property
    def distinct(self) -> frozenset[str]:
        """Return the values."""
        return frozenset(self.words.to_pylist())

    @cached_property
    def printed_nodes(self) -> frozenset[str]:
        """Return how a release may print each label of the hierarchy that is not a leaf."""
        names = [] if self.nodes is None else self.nodes.to_pylist()
        return frozenset(text for name in names for text in (grammar.text(name), name))

    def prints(self, text: str) -> bool:
        """Return whether a text is a label that a release of this column prints."""
        if text == grammar.STAR:
            return True
        try:
            words = grammar.values(text)
        except ValueError:
            return False
        if words is None:  # a range
            return not self.distinct
        if self.nodes is not None and (len(words) > 1 or not self.distinct.issuperset(words)):
            return text in self.printed_nodes
        if not self.distinct.issuperset(words):
            return False
        return grammar.of_set(sorted(set(words), key=str.encode)) == text


def raw_values(
    words: pa.Array | Iterable[str], nodes: pa.Array | None = None, nulls: int = 0
) -> RawValues:
    """Return the values of a raw column; words: its values, perhaps NULL or not of text.

    nodes: as in ``RawValues``, perhaps repeated. nulls: as there.
    """
    texts = words if isinstance(words, pa.Array) else pa.array(list(words), pa.string())
    shown = _is_text(texts.type) or pa.types.is_boolean(texts.type)
    distinct = texts.cast(pa.string()).unique().drop_null() if shown else None
    return RawValues(
        pa.array([], pa.string()) if distinct is None else distinct,
        None if nodes is None else nodes.cast(pa.string()).unique().drop_null(),
        nulls,
    )


def values_by_name(
    columns: Mapping[str, pa.Array],
    trees: Mapping[str, pa.StructArray],
    often: Mapping[str, Ints],
) -> dict[str, RawValues]:
    """Return the values of raw columns by name.

    trees: rows of hierarchies by column. often: how many rows have each of the values.
    """
    return {
        name: raw_values(
            values,
            trees[name].field("label") if name in trees else None,
            int(often[name][~valid(values)].sum()),
        )
        for name, values in columns.items()
    }


def as_printed(
    released: Mapping[str, pa.Array], values: Mapping[str, RawValues], rows: Ints
) -> dict[str, pa.Array]:
    """Return the quasi-identifiers of a release as a release function prints them, by name.

    Columns that have no value to rewrite are returned as they are.

    released: what each class or row shows, all columns of the same length.
    values: of the raw table, by the same names.
    rows: how many released rows each class or row of ``released`` stands for.
    """
    printed_columns, rewritten = dict(released), _rewritten(released, values)
    is_suppressed = None
    if any(grammar.STAR in texts for texts in rewritten.values()) and _star_is_suppression(
        released, rewritten
    ):
        is_suppressed = np.logical_and.reduce([_starred(column) for column in released.values()])
    for name, texts in rewritten.items():
        printed = _replaced(released[name], texts)
        if is_suppressed is not None and is_suppressed.any():
            printed = pc.if_else(pa.array(is_suppressed), grammar.STAR, printed)
        printed_columns[name] = printed
    for name in _hiding_nulls(released, values, dict.fromkeys(released, rows)):
        printed_columns[name] = _starred_nulls(printed_columns[name])
    return printed_columns


class Printed(NamedTuple):
    """The distinct labels of a release, as a release function prints them.

    columns: by name, its labels, and which of them stood for ``*``.
    gone: whether the rows with ``*`` in every column are suppressed. If so, their ``*`` is not a
        value, whatever ``columns`` has for the other rows.
    null_gone: whether the rows with NULL in every column are suppressed.
    """

    columns: dict[str, tuple[pa.Array, Bools]]
    gone: bool
    null_gone: bool


def counted_as_printed(
    released: Mapping[str, pa.Array],
    values: Mapping[str, RawValues],
    rows: Mapping[str, Ints],
    *,
    gone: bool,
) -> Printed:
    """Return columns of distinct labels as a release function prints them.

    released: the labels of each column, each once.
    values: of the raw table, by the same names.
    rows: of each column how many released rows show each label.
    gone: whether some rows have ``*`` in every column.
    """
    printed_columns, rewritten = {}, _rewritten(released, values)
    for name, column in released.items():
        texts = rewritten.get(name, {})
        star = _starred(column) if grammar.STAR in texts else np.zeros(len(column), np.bool_)
        printed_columns[name] = (_replaced(column, texts) if texts else column), star
    hiding = _hiding_nulls(released, values, rows)
    for name in hiding:
        printed_columns[name] = _starred_nulls(printed_columns[name][0]), printed_columns[name][1]
    with_nulls = {
        name for name, each in released.items() if _is_text(each.type) and _has_nulls(each)
    }
    return Printed(
        printed_columns,
        gone and (not rewritten or _star_is_suppression(released, rewritten)),
        bool(hiding) and hiding == with_nulls,
    )


def _hiding_nulls(
    released: Mapping[str, pa.Array], values: Mapping[str, RawValues], rows: Mapping[str, Ints]
) -> set[str]:
    """Return the columns of text in which NULL may hide any value."""
    texts = {name: column for name, column in released.items() if _is_text(column.type)}
    nulls = {name: int(rows[name][~valid(column)].sum()) for name, column in texts.items()}
    if not any(nulls.values()) or any(pa.types.is_nested(each.type) for each in released.values()):
        return set()
    for name, column in texts.items():
        if not values[name].distinct.issuperset(_coded(column).dictionary.drop_null().to_pylist()):
            return set()
    one_value = any(shows_values(column) for column in released.values())
    return {
        name for name, count in nulls.items() if count > (0 if one_value else values[name].nulls)
    }


def _starred_nulls(column: pa.Array) -> pa.Array:
    """Return a column of text with ``*`` for NULL."""
    return pc.fill_null(_coded(column).dictionary_decode(), grammar.STAR)


def _has_nulls(column: pa.Array) -> bool:
    return not valid(column).all()


def _rewritten(
    released: Mapping[str, pa.Array], values: Mapping[str, RawValues]
) -> dict[str, dict[str, str]]:
    """Return each text that is a value although it looks like a label, as it is printed, by column.

    The result has no column without such a text.
    """
    quoted = {name: values[name].quoted for name in released}
    texts = {
        name: [text for text in _coded(column).dictionary.to_pylist() if text is not None]
        for name, column in released.items()
        if _is_text(column.type) and any(quoted.values())
    }
    conflicts = {
        name: [text for text in distinct if text in quoted[name]]
        for name, distinct in texts.items()
    }
    conflicts = {name: distinct for name, distinct in conflicts.items() if distinct}
    if all(all(map(values[name].prints, distinct)) for name, distinct in conflicts.items()) and any(
        any(text not in values[name].distinct and values[name].prints(text) for text in distinct)
        for name, distinct in texts.items()
        if conflicts
    ):
        return {}
    return {
        name: {text: quoted[name][text] for text in distinct}
        for name, distinct in conflicts.items()
    }


def _replaced(column: pa.Array, texts: Mapping[str, str]) -> pa.Array:
    """Return a column of text with some of its texts replaced."""
    coded = _coded(column)
    words = [texts.get(word, word) for word in coded.dictionary.to_pylist()]
    return pa.array(words, pa.string()).take(coded.indices)


def _star_is_suppression(
    released: Mapping[str, pa.Array], rewritten: Mapping[str, Mapping[str, str]]
) -> bool:
    """Return whether ``*`` is not a value of some column, so that a row of ``*`` is suppressed.

    A column that shows numbers, dates or times has NULL instead, which may be a value.
    """
    return any(
        grammar.STAR not in rewritten.get(name, ())
        for name, column in released.items()
        if _is_text(column.type) or pa.types.is_nested(column.type)
    )


def _starred(column: pa.Array) -> Bools:
    """Return which labels are ``*``, in any format."""
    if not _is_text(column.type):
        return np.asarray(~valid(column))
    coded = _coded(column)
    star = pc.equal(coded.dictionary, grammar.STAR)
    return np.asarray(true(star.take(coded.indices)))


def _coded(column: pa.Array) -> pa.DictionaryArray:
    """Return a column of text as a dictionary of strings."""
    if pa.types.is_dictionary(column.type):
        used = column.cast(column.type.value_type)  # without words that no row has
        return used.cast(pa.string()).dictionary_encode()
    return column.cast(pa.string()).dictionary_encode()


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
