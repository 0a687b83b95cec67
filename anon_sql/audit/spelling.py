"""Labels that no release prints."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.audit.asked import NAME
from anon_sql.audit.compared import Compared
from anon_sql.audit.label_ends import counted, of_numbers, ranges
from anon_sql.audit.properties import Property, at_most
from anon_sql.core.arrow import true, valid
from anon_sql.core.columns import Categories
from anon_sql.core.labels import grammar
from anon_sql.core.labels.coverage import Coverage
from anon_sql.core.labels.read import Bools, Ranges, Sets
from anon_sql.core.printing import printed
from anon_sql.errors import AnonError
from anon_sql.measures.readable import ORDER

_SHORTEST = r"^(?:0|-?(?:[1-9]\d*|(?:0|[1-9]\d*)\.\d*[1-9]))$"
_DATE = r"^(?:\d{4}|[1-9]\d{4,})-\d\d-\d\d$"


def require_order(name: str, column: Coverage) -> None:
    """Raise AnonError where text of the raw table looks like labels and the release has none."""
    if not isinstance(column.column, Categories) or not pa.types.is_string(column.shown.type):
        return
    if pc.any(pc.match_substring_regex(column.shown, r"'|^\*$")).as_py():
        return
    if pc.any(pc.match_substring_regex(column.column.values, r"^(\*$|[{'])")).as_py():
        raise AnonError(NAME, ORDER, f"labels of {name} in the first only", "swap them")


def spelling(given: Compared) -> Property:
    """Count labels that cannot be read, cover no value of the raw column, or are written as none is
    printed."""
    found = {}
    rewritten = _rewritten(given)
    for name, column in given.columns.items():
        odd = column.said.malformed.copy()
        if isinstance(column.said, Sets):
            odd |= column.unknown & column.idle
            odd |= _sets_written_otherwise(column.said, column.shown)
        elif of_numbers(column):
            if not given.asked.synthetic:
                odd |= ranges(column) & column.idle
            if name in rewritten:
                odd |= ranges(column) & rewritten[name]
        else:
            odd |= column.unknown
        found[name] = odd
    return at_most("spelling", 0, *counted(given, found))


def _rewritten(given: Compared) -> dict[str, Bools]:
    """Which labels of numbers are written as none is printed, by column.

    An end is written as the column's type prints it, or in the only shortest way: as a decimal
    number without zeros at its ends, or a timestamp without zone at midnight as its date.
    """
    said = {
        name: column.said
        for name, column in given.columns.items()
        if pa.types.is_string(column.shown.type) and isinstance(column.said, Ranges)
    }
    read = [end for each in said.values() for end in (each.low, each.high)]
    kinds = [given.asked.types[name] for name in said for _ in range(2)]
    texts = iter(printed(read, kinds) if read else [])
    found = {}
    for (name, each), low, high in zip(said.items(), texts, texts, strict=True):
        shown = given.columns[name].shown
        kind, ends = given.asked.types[name], grammar.ends(shown)
        written = _written(kind, ends[0], low, each.exact_low)
        written &= _written(kind, ends[1], high, each.exact_high)
        single = each.exact_low & each.exact_high & true(pc.equal(low, high))
        found[name] = ~written | (single & true(pc.starts_with(shown, "[")))
    return found


def _written(kind: str, given: pa.Array, own: pa.Array, exact: Bools) -> Bools:
    """Which ends are written as they may be; own: as the type prints what was read."""
    written: Bools = true(pc.equal(given, own))
    if not kind.startswith("TIMESTAMP"):
        short = ~written & valid(own) & true(pc.match_substring_regex(given, _SHORTEST))
        for at in np.flatnonzero(short).tolist():  # a DOUBLE is the nearest to what is written
            written[at] = not exact[at] or Decimal(given[at].as_py()) == Decimal(own[at].as_py())
    elif not kind.endswith("ZONE"):
        written |= true(pc.match_substring_regex(given, _DATE)) | ~exact
    return written


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
