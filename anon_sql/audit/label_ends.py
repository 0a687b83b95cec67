"""Where labels end: at values that one raw row has, or outside the values of the raw column."""

from collections.abc import Mapping

import numpy as np

from anon_sql.audit.compared import Compared
from anon_sql.audit.properties import Property, at_most, untold
from anon_sql.core.labels.coverage import Coverage, Ints
from anon_sql.core.labels.read import Bools, Ranges, Sets


def of_numbers(column: Coverage) -> bool:
    """Whether labels are ranges of the column's own values."""
    return isinstance(column.said, Ranges) and column.column is None


def ranges(column: Coverage) -> Bools:
    """Which labels are a range or one value."""
    said = column.said
    return ~(said.star | said.empty | said.malformed)


def _held(column: Coverage, codes: Ints) -> Bools:
    """Whether each code is one of the column's."""
    at = np.minimum(np.searchsorted(column.ordered, codes), max(len(column.ordered) - 1, 0))
    return column.ordered[at] == codes if len(column.ordered) else np.zeros(len(codes), np.bool_)


def counted(given: Compared, marked: Mapping[str, Bools]) -> tuple[int, str | None]:
    """Return how many different labels of all columns are marked, and one of them."""
    texts = {name: set(given.texts(name, some)) for name, some in marked.items()}
    examples = [f"{name}: {min(map(str, some))}" for name, some in texts.items() if some]
    return sum(map(len, texts.values())), examples[0] if examples else None


def wider_labels(given: Compared) -> Property:
    """Count labels that end outside the values of the column, or name others. They are true if they
    cover their rows, as whoever widens a label knows."""
    found = {}
    for name, column in given.columns.items():
        if isinstance(column.said, Sets):
            found[name] = column.unknown & ~column.idle
        elif of_numbers(column) and isinstance(column.said, Ranges):
            at_values = column.said.exact_low & _held(column, column.low)
            at_values &= column.said.exact_high & _held(column, column.high)
            found[name] = ranges(column) & ~column.idle & ~at_values
    count, example = counted(given, found)
    return Property("wider labels", None, count, None, example)


def unique_ends(given: Compared) -> Property:
    """Count ends of ranges that one raw row holds. A release prints ends, so they are no fault."""
    count, found = 0, {}
    for name, column in given.columns.items():
        if not (of_numbers(column) and isinstance(column.said, Ranges)):
            continue
        lowest, highest = (
            ranges(column) & exact for exact in (column.said.exact_low, column.said.exact_high)
        )
        ends = np.unique(np.concatenate([column.low[lowest], column.high[highest]]))
        held = np.isin(column.codes, ends)
        places = np.searchsorted(ends, column.codes[held])
        often = np.bincount(places, given.raw.often[name][held], minlength=len(ends))
        single = ends[often == 1]
        count += len(single)
        found[name] = (lowest & np.isin(column.low, single)) | (
            highest & np.isin(column.high, single)
        )
    told = at_most("unique range ends", 0, count, counted(given, found)[1])
    return untold(told) if count else told
