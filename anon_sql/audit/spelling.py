"""Labels that no release prints, and ends of ranges that give a row away."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.audit.asked import NAME
from anon_sql.audit.compared import Compared
from anon_sql.audit.properties import Property, at_most, untold
from anon_sql.core.arrow import true
from anon_sql.core.columns import Categories
from anon_sql.core.labels import grammar
from anon_sql.core.labels.coverage import Coverage, Ints
from anon_sql.core.labels.read import Bools, Ranges, Sets
from anon_sql.core.printing import printed
from anon_sql.errors import AnonError
from anon_sql.measures.readable import ORDER


def require_order(name: str, column: Coverage) -> None:
    """Raise AnonError where text of the raw table looks like labels and the release has none."""
    if not isinstance(column.column, Categories) or not pa.types.is_string(column.shown.type):
        return
    if pc.any(pc.match_substring_regex(column.shown, r"'|^\*$")).as_py():
        return
    if pc.any(pc.match_substring_regex(column.column.values, r"^(\*$|[{'])")).as_py():
        raise AnonError(NAME, ORDER, f"labels of {name} in the first only", "swap them")


def spelling(given: Compared) -> Property:
    """Count labels that no release prints: unreadable, of what the raw table lacks, or written in
    another way."""
    count, example = 0, None
    rewritten = _rewritten(given)
    for name, column in given.columns.items():
        odd = column.said.malformed | column.unknown
        if isinstance(column.said, Sets):
            odd |= _sets_written_otherwise(column.said, column.shown)
        elif _of_numbers(column):
            if not given.asked.synthetic:
                odd |= _ranges(column) & ~(_held(column, column.low) & _held(column, column.high))
            if name in rewritten:
                odd |= _ranges(column) & ~true(pc.equal(rewritten[name], column.shown))
        texts = set(given.texts(name, odd))
        count += len(texts)
        if texts and example is None:
            example = f"{name}: {min(str(text) for text in texts)}"
    return at_most("spelling", 0, count, example)


def _rewritten(given: Compared) -> dict[str, pa.Array]:
    """The labels of numbers as a release prints them, by column."""
    said = {
        name: column.said
        for name, column in given.columns.items()
        if column.column is None and pa.types.is_string(column.shown.type)
    }
    ends = [
        end for each in said.values() if isinstance(each, Ranges) for end in (each.low, each.high)
    ]
    texts = iter(
        printed(ends, [given.asked.types[name] for name in said for _ in range(2)]) if ends else []
    )
    return {name: _range(low, high) for name, low, high in zip(said, texts, texts, strict=True)}


def _range(low: pa.Array, high: pa.Array) -> pa.Array:
    """The labels of printed ends."""
    opened = pc.binary_join_element_wise("[", low, "")
    spread = pc.binary_join_element_wise(opened, pc.binary_join_element_wise(high, "]", ""), ", ")
    return pc.if_else(pc.equal(low, high), low, spread)


def _of_numbers(column: Coverage) -> bool:
    """Whether labels are ranges of the column's own values."""
    return isinstance(column.said, Ranges) and column.column is None


def _sets_written_otherwise(said: Sets, shown: pa.Array) -> Bools:
    """Whether a release prints the same words in another way."""
    labels = shown.to_pylist() if pa.types.is_string(shown.type) else [None] * len(shown)
    return np.array(
        [
            words is not None
            and (
                list(words) != sorted(set(words), key=str.encode)
                or (label is not None and grammar.of_set(words) != label)
            )
            for words, label in zip(said.words, labels, strict=True)
        ],
        dtype=np.bool_,
    )


def _ranges(column: Coverage) -> Bools:
    """Which labels are a range or one value."""
    said = column.said
    return ~(said.star | said.empty | said.malformed)


def _held(column: Coverage, codes: Ints) -> Bools:
    """Whether each code is one of the column's."""
    at = np.minimum(np.searchsorted(column.ordered, codes), max(len(column.ordered) - 1, 0))
    return column.ordered[at] == codes if len(column.ordered) else np.zeros(len(codes), np.bool_)


def unique_ends(given: Compared) -> Property:
    """Count ends of ranges that one raw row holds. A release prints ends, so they are no fault."""
    count, example = 0, None
    for name, column in given.columns.items():
        if not _of_numbers(column):
            continue
        said = _ranges(column)
        ends = np.unique(np.concatenate([column.low[said], column.high[said]]))
        held = np.isin(column.codes, ends)
        places = np.searchsorted(ends, column.codes[held])
        often = np.bincount(places, given.raw.often[name][held], minlength=len(ends))
        single = ends[often == 1]
        count += len(single)
        if len(single) and example is None:
            has = said & (np.isin(column.low, single) | np.isin(column.high, single))
            texts = given.texts(name, has)
            example = f"{name}: {min(str(text) for text in texts)}"
    told = at_most("unique range ends", 0, count, example)
    return untold(told) if count else told
