"""Print and parse labels: a value, a range ``[low, high]``, a set ``{a, b}`` or ``*``.

Text is written without quotes unless it would be ambiguous; otherwise in single quotes, with
``\\'`` and ``\\\\`` as escapes. The ends of ranges are printed by DuckDB in the column's type.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.errors import AnonError

STAR = "*"
_SPECIAL = re.compile(r"""[\[\]{},'"\\\x00-\x1f\x7f-\x9f]""")
_PLAIN = re.compile(r"[^\[\]{},'\"\\]+")
_BARE_SET = re.compile(r"""\{[^\[\]{}'"\\\x00-\x1f\x7f-\x9f]+\}""")
_QUOTED = re.compile(r"'((?:[^'\\]|\\['\\])*)'", re.DOTALL)
_NUMBER = r"-?(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?"
_DATE = r"\d{4,}-\d\d-\d\d(?: \(BC\))?"
_TIME = r"\d\d:\d\d:\d\d(?:\.\d+)?"
_ZONE = r"[+-]\d\d(?::\d\d){0,2}"
_END = rf"({_NUMBER}|{_DATE}(?: {_TIME}(?:{_ZONE})?)?|{_TIME})"
_POINT = re.compile(_END, re.ASCII)
_RANGE = re.compile(rf"\[{_END}, {_END}\]", re.ASCII)
_ENDS = rf"^\[(?P<low>{_END[1:-1]}), (?P<high>{_END[1:-1]})\]$"
_ONE = rf"^(?P<low>{_END[1:-1]})$"


def _is_bare(value: str) -> bool:
    """Return whether a text value is written without quotes."""
    return not _wants_quotes(value) and not _SPECIAL.search(value)


@lru_cache(maxsize=1024)
def _wants_quotes(value: str) -> bool:
    """Return whether a value without special characters needs quotes nevertheless."""
    return value in ("", STAR, "NULL") or value != value.strip()


def text(value: str) -> str:
    """Return a text value as it is written in a label, alone or in a set."""
    return value if _is_bare(value) else quoted(value)


def quoted(value: str) -> str:
    """Return a text value in quotes, whether it needs them or not."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def of_set(values: Sequence[str]) -> str:
    """Return the label of the distinct text values of a class, given sorted by bytes."""
    return joined([text(value) for value in values])


def joined(written: Sequence[str]) -> str:
    """Return the label of values that are already written by ``text``."""
    return written[0] if len(written) == 1 else "{" + ", ".join(written) + "}"


def values(label: str) -> list[str] | None:
    """Return the values of a text label; None for ``*`` and ranges.

    Raises ValueError for a malformed label.
    """
    if label == STAR or _range(label):
        return None
    if not label.startswith("{"):
        value, end = _value(label, 0)
        if end != len(label):
            raise ValueError("text after the end of a value")
        return [value]
    if _BARE_SET.fullmatch(label):  # nearly every set: no quotes, so nothing to look for
        found = label[1:-1].split(", ")
        if not any(_wants_quotes(value) or "," in value for value in found):
            return found
    found, at = [], 1
    while True:
        value, at = _value(label, at)
        found.append(value)
        if label[at:] == "}":
            return found
        if not label.startswith(", ", at):
            raise ValueError("a set that does not close or go on with ', '")
        at += 2


def bounds(label: str) -> tuple[str, str] | None:
    """Return the printed ends of a range or number; None for ``*`` and text.

    Raises ValueError for a malformed label.
    """
    ends = _range(label)
    if ends is None and _POINT.fullmatch(label):
        return label, label
    if ends is None:
        values(label)
    return ends


def ends(labels: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Return the printed ends of numeric labels as two string arrays; NULL for any other label.

    This is ``bounds`` for a whole column, except that malformed labels raise no error.
    """
    ranges, points = pc.extract_regex(labels, _ENDS), pc.extract_regex(labels, _ONE)
    point = pc.struct_field(points, "low")
    low, high = (pc.coalesce(pc.struct_field(ranges, end), point) for end in ("low", "high"))
    return low, high


def _range(label: str) -> tuple[str, str] | None:
    """Return the printed ends of a range, None if the label does not begin with ``[``."""
    if not label.startswith("["):
        return None
    found = _RANGE.fullmatch(label)
    if found is None:
        raise ValueError("a range that is not [low, high]")
    return found[1], found[2]


def _value(label: str, at: int) -> tuple[str, int]:
    """Parse the text value at position ``at``; return it and the position after it."""
    quoted = _QUOTED.match(label, at)
    if quoted:
        return re.sub(r"\\(.)", r"\1", quoted[1], flags=re.DOTALL), quoted.end()
    plain = _PLAIN.match(label, at)
    if plain is None:
        opened = label.startswith("'", at)
        raise ValueError("a quote that does not close" if opened else "no value where one must be")
    if not _is_bare(plain[0]):
        raise ValueError("a value that must stand in quotes")
    return plain[0], plain.end()


def each(
    function: str,
    labels: pa.ChunkedArray | pa.Array,
    reader: Callable[[str], Any],
    item: pa.DataType,
) -> pa.Array:
    """Return the result of ``reader`` for every label, called once per distinct label.

    NULL stays NULL. item: Arrow type of the results. Raises AnonError for a malformed label; the
    message does not contain the label.
    """
    coded = labels.combine_chunks() if isinstance(labels, pa.ChunkedArray) else labels
    coded = coded.dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.chunk(0)
    try:
        known = [reader(label) for label in coded.dictionary.to_pylist()]
    except ValueError as wrong:
        raise AnonError(
            function, "a label must be a value, [low, high], {…} or *", str(wrong)
        ) from None
    return pa.array(known, item).take(coded.indices)


def words(codes: Sequence[int], known: Sequence[str]) -> list[str] | None:
    """Return the values of a set of codes: [] for NULL alone, None for NULL together with values.

    codes: ascending; len(known) is the code of NULL.
    """
    if codes[-1] == len(known):
        return [] if len(codes) == 1 else None
    return [known[code] for code in codes]
