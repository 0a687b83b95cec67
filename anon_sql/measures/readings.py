"""The labels of a release as stretches of codes, so that covering a value is a comparison."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql import labels
from anon_sql.arrow import integers, valid
from anon_sql.columns import categories, is_number, numbers, numeric_keys
from anon_sql.errors import AnonError
from anon_sql.hierarchical import Hierarchical, hierarchical
from anon_sql.measures.call import ORDER

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
LEAST, MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max  # LEAST is the code of NULL


@dataclass(frozen=True)
class Reading:
    """One quasi-identifier: of n raw rows and c classes.

    codes int64[n]; low, high int64[c]: the least and greatest code that a label stands for;
    start, end int64[c]: where the codes of a set with gaps stand in ``flat``, ascending; odd
    bool[c]: the label is not what a release would print; number: it is a range.
    """

    codes: Ints
    low: Ints
    high: Ints
    start: Ints
    end: Ints
    flat: Ints
    odd: Bools
    number: bool


def read(
    function: str,
    name: str,
    sql_type: str,
    values: pa.Array,
    said: pa.StructArray,
    typed: bool,
    listed: pa.StructArray | None,
) -> Reading:
    """said: what SQL read of each class's label; listed: the rows of the column's hierarchy.

    Raises AnonError for values that no label can stand for, and where labels are in the raw table.
    """
    if listed is not None:
        column = hierarchical(function, name, sql_type, values, listed)
        return _of_tree(column, said, typed, is_number(function, name, sql_type))
    if is_number(function, name, sql_type):
        numbers(function, name, sql_type, values)  # refuses what is not finite
        return _of_ranges(sql_type, values, said, typed)
    return _of_text(function, name, values, said, typed)


def stars(said: pa.StructArray, typed: bool) -> Bools:
    """Which labels are ``*``, or NULL in the typed format."""
    shown = said.field("shown")
    return ~valid(shown) if typed else _true(pc.equal(shown, labels.STAR))


def codes_of(readings: Sequence[Reading]) -> Ints:
    """int64[n, d]: the codes of all columns, row by row."""
    codes = np.empty((len(readings[0].codes), len(readings)), dtype=np.int64)
    for at, reading in enumerate(readings):
        codes[:, at] = reading.codes
    return codes


def narrowest(codes: Ints, readings: Sequence[Reading]) -> int:
    """The column in which labels cover the fewest of these rows, int64[n, d]."""
    covered = []
    for at, reading in enumerate(readings):
        ordered = np.sort(codes[:, at])
        high = np.searchsorted(ordered, reading.high, "right")
        covered.append(int((high - np.searchsorted(ordered, reading.low)).sum()))
    return int(np.argmin(covered))


def labels_of(readings: Sequence[Reading]) -> tuple[Ints, ...]:
    """low, high, start, end int64[c, d] and flat, of all columns."""
    shift = np.cumsum([0, *(len(reading.flat) for reading in readings)])
    return (
        np.column_stack([reading.low for reading in readings]),
        np.column_stack([reading.high for reading in readings]),
        np.column_stack([r.start + by for r, by in zip(readings, shift, strict=False)]),
        np.column_stack([r.end + by for r, by in zip(readings, shift, strict=False)]),
        np.concatenate([reading.flat for reading in readings]),
    )


def _of_ranges(sql_type: str, values: pa.Array, said: pa.StructArray, typed: bool) -> Reading:
    ends = [said.field(end) for end in ("low", "high")]
    keys = numeric_keys(sql_type, pa.concat_arrays([values, *ends]))
    keys = np.maximum(keys, LEAST + 1)
    codes, low, high = np.split(keys, [len(values), len(values) + len(said)])
    readable = valid(ends[0]) & valid(ends[1]) & (low <= high)
    odd = ~readable
    if not typed:
        first, last = said.field("printed_low"), said.field("printed_high")
        opened = pc.binary_join_element_wise("[", first, "")
        closed = pc.binary_join_element_wise(last, "]", "")
        spread = pc.binary_join_element_wise(opened, closed, ", ")
        printed = pc.if_else(pc.equal(first, last), first, spread)
        odd |= ~_true(pc.equal(printed, said.field("shown")))
    codes = np.where(valid(values), codes, LEAST)
    return _stretches(codes, low, high, readable, odd, *_empty(said, typed), number=True)


def _of_text(
    function: str, name: str, values: pa.Array, said: pa.StructArray, typed: bool
) -> Reading:
    column = categories(name, values)
    known = column.values.to_pylist()
    code_of = {word: code for code, word in enumerate(known)}
    written, label_of = _distinct(said, typed)
    told = typed or any(x == labels.STAR or "'" in x for x in written if x)
    if not told and any(word == labels.STAR or word[:1] in ("{", "'") for word in known):
        raise AnonError(function, ORDER, f"labels of {name} in the first only", "swap them")
    codes = np.where(column.codes == column.null_code, LEAST, column.codes.astype(np.int64))
    reader = _known if typed else _of_label
    sets = [reader(each, code_of) for each in written]
    return _sets(codes, sets, label_of, *_empty(said, typed))


def _of_tree(column: Hierarchical, said: pa.StructArray, typed: bool, number: bool) -> Reading:
    tree = column.tree
    codes = np.where(column.codes == column.null_code, LEAST, column.codes.astype(np.int64))
    leaf_of = {name: leaf for leaf, name in enumerate(tree.names[: tree.leaves])}
    if typed and not number:
        written, label_of = _distinct(said, typed)
        sets = [_known(words, leaf_of) for words in written]
        return _sets(codes, sets, label_of, *_empty(said, typed))
    if typed:
        ends = (said.field(end).to_pylist() for end in ("printed_low", "printed_high"))
        low, high = (np.array([leaf_of.get(leaf, -1) for leaf in end]) for end in ends)
    else:
        nodes = [tree.node_of.get(label, -1) for label in said.field("shown").to_pylist()]
        low, high = (np.append(leaf, -1)[nodes] for leaf in (tree.first, tree.last))
    readable = (low >= 0) & (low <= high)
    return _stretches(codes, low, high, readable, ~readable, *_empty(said, typed), number=False)


def _empty(said: pa.StructArray, typed: bool) -> tuple[Bools, Bools]:
    """Which labels are ``*``, and which stand for NULL alone."""
    starred = stars(said, typed)
    if not typed:
        return starred, ~valid(said.field("shown"))
    if "words" in (field.name for field in said.type):
        return starred, _true(pc.equal(pc.list_value_length(said.field("words")), 0))
    ends = valid(said.field("low")) | valid(said.field("high"))
    return starred, ~starred & ~ends


def _distinct(said: pa.StructArray, typed: bool) -> tuple[list[Any], Ints]:
    """Each label once, as text or as a tuple of words, and which one every class has."""
    if not typed:
        coded = said.field("shown").dictionary_encode(null_encoding="encode")
        return coded.dictionary.to_pylist(), integers(coded.indices).astype(np.int64)
    words = [None if x is None else tuple(x) for x in said.field("words").to_pylist()]
    place = {each: at for at, each in enumerate(dict.fromkeys(words))}
    return list(place), np.array([place[each] for each in words], dtype=np.int64)


def _stretches(
    codes: Ints,
    low: Ints,
    high: Ints,
    readable: Bools,
    odd: Bools,
    star: Bools,
    empty: Bools,
    *,
    number: bool,
) -> Reading:
    """What cannot be read covers nothing, ``*`` all, and a label of NULLs NULL alone."""
    low = np.where(star | empty, LEAST, np.where(readable, low, MOST))
    high = np.where(star, MOST, np.where(readable & ~empty, high, LEAST))
    none = np.zeros(len(low), dtype=np.int64)
    return Reading(codes, low, high, none, none, none[:0], odd & ~star & ~empty, number)


def _sets(
    codes: Ints,
    sets: Sequence[tuple[list[int], bool]],
    label_of: Ints,
    star: Bools,
    empty: Bools,
) -> Reading:
    """sets: of each label its codes, ascending, and whether it is odd; label_of: of each class."""
    size = np.array([len(known) for known, _ in sets], dtype=np.int64)
    low = np.array([known[0] if known else MOST for known, _ in sets], dtype=np.int64)
    high = np.array([known[-1] if known else LEAST for known, _ in sets], dtype=np.int64)
    odd = np.array([wrong for _, wrong in sets], dtype=np.bool_)
    gaps = (size > 0) & (high - low + 1 > size)
    end = np.cumsum(np.where(gaps, size, 0))
    start = end - np.where(gaps, size, 0)
    listed = (known for (known, _), gap in zip(sets, gaps, strict=True) if gap)
    plain = _stretches(
        codes,
        low[label_of],
        high[label_of],
        (size > 0)[label_of],
        odd[label_of],
        star,
        empty,
        number=False,
    )
    flat = np.fromiter(chain.from_iterable(listed), np.int64)
    return replace(plain, start=start[label_of], end=end[label_of], flat=flat)


def _of_label(label: str | None, code_of: Mapping[str, int]) -> tuple[list[int], bool]:
    """The codes of a label, ascending, and whether a release would have printed it otherwise."""
    if label is None or label == labels.STAR:
        return [], False
    try:
        words = labels.values(label)
    except ValueError:
        words = None
    if words is None:
        return [], True
    codes, odd = _known(words, code_of)
    return codes, odd or labels.of_set(words) != label


def _known(words: Sequence[str] | None, code_of: Mapping[str, int]) -> tuple[list[int], bool]:
    """Codes of words, and whether one is unknown, stands twice or is out of order."""
    named = list(words or [])
    codes = sorted({code_of[word] for word in named if word in code_of})
    odd = len(codes) < len(named) or named != sorted(named, key=str.encode)
    return codes, odd


def _true(values: pa.Array) -> Bools:
    marked: Bools = integers(values).astype(np.bool_)
    return marked
