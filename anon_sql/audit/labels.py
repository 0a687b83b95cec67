"""Audit the labels of a release: whether they are true, and whether a release prints them so."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.audit.compared import (
    TOO_MANY,
    Compared,
    Marks,
    Property,
    none_of,
    undecided,
    weighed,
    with_added_rows,
)
from anon_sql.audit.parameters import NAME
from anon_sql.audit.rows import Truth
from anon_sql.core.arrow import true, valid
from anon_sql.core.columns import Categories
from anon_sql.core.labels import grammar
from anon_sql.core.labels.reading import Bools, Coverage, Ints, Ranges, Sets
from anon_sql.core.printing import printed
from anon_sql.errors import AnonError, listed
from anon_sql.measures.pair import ORDER
from anon_sql.privacy.model import many

_KEPT = (
    "No kept value differs from the raw table.",
    "1 released row has kept values that no raw row left has.",
    "{} released rows have kept values that no raw row left has.",
)
_LABELS = (
    "Every released row is true of a raw row with its kept values.",
    "1 released row is true of no raw row with its kept values.",
    "{} released rows are true of no raw row with their kept values.",
)
_MATCHING = (
    "Each released row can be paired with a raw row of its own.",
    "1 released row cannot be paired with a raw row of its own.",
    "{} released rows cannot be paired with raw rows of their own.",
)
_ENDS = (
    "No range ends at a value that only one raw row has.",
    "1 end of a range is a value that only one raw row has.",
    "{} ends of ranges are values that only one raw row has.",
)
_OFTEN = 0.05  # of the rows: if more show a single value of a column, bins are advised
_WIDER = (
    "Every label ends at values of the raw table.",
    "1 label ends at no value of the raw table, or names one that it lacks.",
    "{} different labels end at no value of the raw table, or name one that it lacks.",
)
_SPELLING = (
    "Every label is written as a release writes it.",
    "1 label is not written as a release writes it.",
    "{} different labels are not written as a release writes them.",
)


def kept(compared: Compared, true: Truth) -> Property:
    """Count released rows whose kept values no remaining raw row has. If a kept column is missing,
    all rows count."""
    dropped = compared.request.dropped
    if dropped and compared.released_rows:
        meaning = f"The release lacks {many(len(dropped), 'column')} that it had to keep."
        row_count, example = compared.released_rows, f"without {', '.join(dropped)}"
        return Property("kept_values", 0, row_count, False, meaning, example)
    columns = [
        name
        for name in (compared.request.shared if true.more else [])
        if _is_more_frequent(compared, name)
    ]
    together = "values that do not stand together" if true.more else None
    row = none_of("kept_values", true.more, _KEPT, ", ".join(columns) or together)
    return with_added_rows(row) if compared.request.synthetic else row


def _is_more_frequent(compared: Compared, name: str) -> bool:
    """Whether the release has a value of a column more often than the raw table."""
    values, often = _often(compared.raw_marks(name), compared.raw.weights)
    released_values, count = _often(compared.marks(name), compared.released.weights)
    if not len(values):
        return bool(len(released_values))
    position = np.minimum(np.searchsorted(values, released_values), len(values) - 1)
    return bool((count > np.where(values[position] == released_values, often[position], 0)).any())


def _often(marks: Marks, weights: npt.NDArray[np.int32]) -> tuple[Marks, Ints]:
    """Return the distinct hashes, ascending, and the number of rows with each."""
    values, places = np.unique(marks, return_inverse=True)
    return values, weighed(places.reshape(-1), weights, len(values))


def labels(compared: Compared, true: Truth) -> list[Property]:
    """Return the properties of labels that can be checked by comparing rows.

    Necessary: every released row covers a raw row with its kept values, and every raw row is
    covered. Sufficient: released rows can be matched one to one with raw rows.
    """
    limits = {"true_labels": 0, "covered_rows": compared.left_out, "matched_rows": 0}
    unknown = {n: Property(n, most, None, None, _UNKNOWN, TOO_MANY) for n, most in limits.items()}
    if true.too_many:
        return list(unknown.values())
    wrong = compared.where(np.unique(np.concatenate(true.wrong)))
    rows = [
        none_of("true_labels", true.false, _LABELS, wrong),
        _described(compared, true.uncovered),
        unknown["matched_rows"]
        if true.unmatched is None
        else none_of("matched_rows", true.unmatched, _MATCHING),
    ]
    return [with_added_rows(row) for row in rows] if compared.request.synthetic else rows


_UNKNOWN = f"This was not found out: {TOO_MANY}."


def _described(compared: Compared, uncovered: int) -> Property:
    """Count raw rows that no released row covers; as many as were left out may be uncovered."""
    most = compared.left_out
    if not uncovered:
        meaning = "Every raw row is described by a released row."
    else:
        are, out = ("is" if uncovered == 1 else "are"), ("was" if most == 1 else "were")
        meaning = f"{many(uncovered, 'raw row')} {are} described by no released row"
        meaning += f"; {most:,} {out} left out." if most else "."
    return Property("covered_rows", most, uncovered, uncovered <= most, meaning)


def has_numeric_ranges(column: Coverage) -> bool:
    """Whether labels are ranges of numbers, dates or times."""
    return isinstance(column.parsed, Ranges) and column.column is None


def shows_range(column: Coverage) -> Bools:
    """Return which labels are a range or one value."""
    parsed = column.parsed
    return ~(parsed.star | parsed.empty | parsed.malformed)


def _is_value(column: Coverage, codes: Ints) -> Bools:
    """Whether each code is one of the column's."""
    position = np.minimum(np.searchsorted(column.ordered, codes), max(len(column.ordered) - 1, 0))
    return (
        column.ordered[position] == codes if len(column.ordered) else np.zeros(len(codes), np.bool_)
    )


def counted(compared: Compared, marked: Mapping[str, Bools]) -> tuple[int, str | None]:
    """Return the number of distinct marked labels of all columns, and one of them."""
    texts = {name: set(compared.texts(name, some)) for name, some in marked.items()}
    examples = [f"{name}: {min(map(str, some))}" for name, some in texts.items() if some]
    return sum(map(len, texts.values())), examples[0] if examples else None


def wider_labels(compared: Compared) -> Property:
    """Count labels that end at, or name, values that the column lacks. They are true if they cover
    their rows."""
    marked = {}
    for name, column in compared.columns.items():
        if isinstance(column.parsed, Sets):
            marked[name] = column.unknown & ~column.idle
        elif has_numeric_ranges(column) and isinstance(column.parsed, Ranges):
            at_values = column.parsed.exact_low & _is_value(column, column.low)
            at_values &= column.parsed.exact_high & _is_value(column, column.high)
            marked[name] = shows_range(column) & ~column.idle & ~at_values
    count, example = counted(compared, marked)
    return replace(none_of("wider_labels", count, _WIDER, example), required=None, passed=None)


def unique_ends(compared: Compared) -> Property:
    """Count ends of ranges that one raw row has. A release prints ends, so they are not a fault."""
    count, marked = 0, {}
    for name, column in compared.columns.items():
        if not (has_numeric_ranges(column) and isinstance(column.parsed, Ranges)):
            continue
        lowest, highest = (
            shows_range(column) & exact
            for exact in (column.parsed.exact_low, column.parsed.exact_high)
        )
        ends = np.unique(np.concatenate([column.low[lowest], column.high[highest]]))
        at_ends = np.isin(column.codes, ends)
        places = np.searchsorted(ends, column.codes[at_ends])
        often = np.bincount(places, compared.raw.often[name][at_ends], minlength=len(ends))
        single = ends[often == 1]
        count += len(single)
        marked[name] = (lowest & np.isin(column.low, single)) | (
            highest & np.isin(column.high, single)
        )
    row = none_of("unique_range_ends", count, _ENDS, counted(compared, marked)[1])
    return _advised(compared, undecided(row) if count else row)


def _advised(compared: Compared, row: Property) -> Property:
    """Return the property with the columns whose values bins would hide."""
    often = []
    for name, column in compared.columns.items():
        if has_numeric_ranges(column):
            single = shows_range(column) & (column.low == column.high)
            if compared.sizes[single[column.label_of]].sum() > _OFTEN * compared.released_rows:
                often.append(name)
    if not often:
        return row
    meaning = f"{row.meaning.removesuffix('.')}; bins would hide values of {listed(often)}."
    return replace(row, meaning=meaning)


_SHORTEST = r"^(?:0|-?(?:[1-9]\d*|(?:0|[1-9]\d*)\.\d*[1-9]))$"
_DATE = r"^(?:\d{4}|[1-9]\d{4,})-\d\d-\d\d$"


def require_order(name: str, column: Coverage) -> None:
    """Raise AnonError if the two relations seem to be swapped.

    They do if texts of the raw table look like labels, while the release has no labels and shows
    values that the raw table lacks.
    """
    if not isinstance(column.column, Categories) or not pa.types.is_string(column.labels.type):
        return
    if not column.unknown.any():
        return
    if pc.any(pc.match_substring_regex(column.labels, r"'|^\*$")).as_py():
        return
    if pc.any(pc.match_substring_regex(column.column.values, r"^(\*$|[{'])")).as_py():
        raise AnonError(NAME, ORDER, f"labels of {name} in the first only", "swap them")


def spelling(compared: Compared) -> Property:
    """Count labels that cannot be parsed, that cover no value of the raw column, or that a release
    would print in another way."""
    marked = {}
    rewritten = _rewritten(compared)
    for name, column in compared.columns.items():
        odd = column.parsed.malformed.copy()
        if isinstance(column.parsed, Sets):
            odd |= column.unknown & column.idle
            odd |= _sets_written_otherwise(column.parsed, column.labels)
        elif has_numeric_ranges(column):
            if not compared.request.synthetic:
                odd |= shows_range(column) & column.idle
            if name in rewritten:
                odd |= shows_range(column) & rewritten[name]
        else:
            odd |= column.unknown
        marked[name] = odd
    count, example = counted(compared, marked)
    return none_of("label_spelling", count, _SPELLING, example)


def _rewritten(compared: Compared) -> dict[str, Bools]:
    """Return, by column, which ranges a release would print in another way.

    An end may be printed as the column's type prints it, or in its shortest form: a decimal number
    without leading and trailing zeros, or the date for a timestamp without zone at midnight.
    """
    ranges_of = {
        name: column.parsed
        for name, column in compared.columns.items()
        if pa.types.is_string(column.labels.type) and isinstance(column.parsed, Ranges)
    }
    end_values = [end for ranges in ranges_of.values() for end in (ranges.low, ranges.high)]
    kinds = [compared.request.types[name] for name in ranges_of for _ in range(2)]
    texts = iter(printed(end_values, kinds) if end_values else [])
    marked = {}
    for (name, ranges), low, high in zip(ranges_of.items(), texts, texts, strict=True):
        released = compared.columns[name].labels
        kind, ends = compared.request.types[name], grammar.ends(released)
        written = _written(kind, ends[0], low, ranges.exact_low)
        written &= _written(kind, ends[1], high, ranges.exact_high)
        single = ranges.exact_low & ranges.exact_high & true(pc.equal(low, high))
        marked[name] = ~written | (single & true(pc.starts_with(released, "[")))
    return marked


def _written(kind: str, ends: pa.Array, as_printed: pa.Array, exact: Bools) -> Bools:
    """Return which ends have a permitted form; as_printed: the parsed ends as the type prints
    them."""
    written: Bools = true(pc.equal(ends, as_printed))
    if not kind.startswith("TIMESTAMP"):
        short = ~written & valid(as_printed) & true(pc.match_substring_regex(ends, _SHORTEST))
        for position in np.flatnonzero(
            short
        ).tolist():  # a DOUBLE is the nearest to what is written
            written[position] = not exact[position] or Decimal(ends[position].as_py()) == Decimal(
                as_printed[position].as_py()
            )
    elif not kind.endswith("ZONE"):
        written |= true(pc.match_substring_regex(ends, _DATE)) | ~exact
    return written


def _sets_written_otherwise(sets: Sets, released: pa.Array) -> Bools:
    """Return which sets a release would print in another way."""
    labels = released.to_pylist() if pa.types.is_string(released.type) else [None] * len(released)
    return np.array(
        [
            words is not None and _is_written_otherwise(words, label)
            for words, label in zip(sets.words, labels, strict=True)
        ],
        dtype=np.bool_,
    )


def _is_written_otherwise(words: Sequence[str], label: str | None) -> bool:
    """Return whether a release would print a set, or a range of ordered categories, otherwise.

    words: its values. label: None for a list.
    """
    if label is not None and label.startswith("["):
        return len(words) < 2 or grammar.of_range(words[0], words[-1]) != label
    if list(words) != sorted(set(words), key=str.encode):
        return True
    return label is not None and grammar.of_set(words) != label
