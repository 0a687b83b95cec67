"""The labels of a release as stretches of codes, so that covering a value is a comparison."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

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


def _of_ranges(sql_type: str, values: pa.Array, said: pa.StructArray, typed: bool) -> Reading:
    ends = [said.field(end) for end in ("low", "high")]
    keys = numeric_keys(sql_type, pa.concat_arrays([values, *ends]))
    keys = np.maximum(keys, LEAST + 1)
    codes, low, high = np.split(keys, [len(values), len(values) + len(said)])
    readable = valid(ends[0]) & valid(ends[1]) & (low <= high)
    odd = ~readable
    if not typed:
        first, last = said.field("printed_low"), said.field("printed_high")
        spread = pc.binary_join_element_wise(
            pc.binary_join_element_wise("[", first, ""), pc.binary_join_element_wise(last, "]", ""),
            ", ",
        )
        printed = pc.if_else(pc.equal(first, last), first, spread)
        odd |= ~_true(pc.equal(printed, said.field("shown")))
    codes = np.where(valid(values), codes, LEAST)
    return _stretches(codes, low, high, readable, odd, said, number=True)


def _of_text(
    function: str, name: str, values: pa.Array, said: pa.StructArray, typed: bool
) -> Reading:
    column = categories(name, values)
    known = column.values.to_pylist()
    code_of = {word: code for code, word in enumerate(known)}
    shown = said.field("shown").to_pylist()
    told = typed or _true(said.field("star")).any() or any("'" in x for x in shown if x)
    if not told and any(word == labels.STAR or word[:1] in ("{", "'") for word in known):
        raise AnonError(function, ORDER, f"labels of {name} in the first only", "swap them")
    written = said.field("words").to_pylist() if typed else shown
    distinct = {_key(x): _set_codes(x, code_of, typed) for x in written}
    codes = np.where(column.codes == column.null_code, LEAST, column.codes.astype(np.int64))
    return _sets(codes, [distinct[_key(x)] for x in written], said)


def _of_tree(column: Hierarchical, said: pa.StructArray, typed: bool, number: bool) -> Reading:
    tree = column.tree
    codes = np.where(column.codes == column.null_code, LEAST, column.codes.astype(np.int64))
    leaf_of = {name: leaf for leaf, name in enumerate(tree.names[: tree.leaves])}
    if typed and not number:
        sets = said.field("words").to_pylist()
        return _sets(codes, [_known(words, leaf_of) for words in sets], said)
    if typed:
        ends = (said.field(end).to_pylist() for end in ("printed_low", "printed_high"))
        low, high = (np.array([leaf_of.get(leaf, -1) for leaf in end]) for end in ends)
    else:
        nodes = [tree.node_of.get(label, -1) for label in said.field("shown").to_pylist()]
        low, high = (np.append(leaf, -1)[nodes] for leaf in (tree.first, tree.last))
    readable = (low >= 0) & (low <= high)
    return _stretches(codes, low, high, readable, ~readable, said, number=False)


def _stretches(
    codes: Ints, low: Ints, high: Ints, readable: Bools, odd: Bools, said: pa.StructArray, *,
    number: bool,
) -> Reading:
    """What cannot be read covers nothing, ``*`` all, and a label of NULLs NULL alone."""
    star, empty = _true(said.field("star")), _true(said.field("empty"))
    low = np.where(star | empty, LEAST, np.where(readable, low, MOST))
    high = np.where(star, MOST, np.where(readable & ~empty, high, LEAST))
    none = np.zeros(len(low), dtype=np.int64)
    return Reading(codes, low, high, none, none, none[:0], odd & ~star & ~empty, number)


def _sets(codes: Ints, sets: Sequence[tuple[list[int], bool]], said: pa.StructArray) -> Reading:
    size = np.array([len(known) for known, _ in sets], dtype=np.int64)
    low = np.array([known[0] if known else MOST for known, _ in sets], dtype=np.int64)
    high = np.array([known[-1] if known else LEAST for known, _ in sets], dtype=np.int64)
    odd = np.array([wrong for _, wrong in sets], dtype=np.bool_)
    plain = _stretches(codes, low, high, size > 0, odd, said, number=False)
    gaps = (size > 0) & (high - low + 1 > size)
    end = np.cumsum(np.where(gaps, size, 0))
    start = end - np.where(gaps, size, 0)
    listed = (known for (known, _), gap in zip(sets, gaps, strict=True) if gap)
    flat = np.fromiter(chain.from_iterable(listed), np.int64)
    return Reading(
        codes, plain.low, plain.high, start, end, flat, plain.odd, plain.number
    )


def _set_codes(
    written: str | list[str] | None, code_of: dict[str, int], typed: bool
) -> tuple[list[int], bool]:
    """The codes of a label, ascending, and whether a release would have printed it otherwise."""
    if isinstance(written, list) or written is None or written == labels.STAR and not typed:
        return _known(written if isinstance(written, list) else [], code_of)
    try:
        words = labels.values(written)
    except ValueError:
        words = None
    if words is None:
        return [], True
    codes, odd = _known(words, code_of)
    return codes, odd or labels.of_set(words) != written


def _known(words: Iterable[str] | None, code_of: dict[str, int]) -> tuple[list[int], bool]:
    """Codes of words, and whether one is unknown, stands twice or is out of order."""
    named = list(words or [])
    codes = [code_of[word] for word in named if word in code_of]
    return sorted(set(codes)), len(codes) < len(named) or named != sorted(
        set(named), key=str.encode
    )


def _key(written: str | list[str] | None) -> str | tuple[str, ...] | None:
    return tuple(written) if isinstance(written, list) else written


def _true(values: pa.Array) -> Bools:
    marked: Bools = integers(values).astype(np.bool_)
    return marked
