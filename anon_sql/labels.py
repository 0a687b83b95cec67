"""Labels: one value, a range or a set, written so that it can be read back exactly.

Text is bare unless it could be taken for something else; then it stands in single quotes
with ``\\'`` and ``\\\\``. Ranges are printed by DuckDB itself, in the column's own type.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import pyarrow as pa

from anon_sql.errors import AnonError

STAR = "*"
_SPECIAL = re.compile(r"""[\[\]{},'"\\\x00-\x1f\x7f-\x9f]""")
_PLAIN = re.compile(r"[^\[\]{},'\"\\]+")
_BARE_SET = re.compile(r"""\{[^\[\]{}'"\\\x00-\x1f\x7f-\x9f]+\}""")
_QUOTED = re.compile(r"'((?:[^'\\]|\\['\\])*)'", re.DOTALL)
_NUMBER = r"-?(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]\d+)?"
_DATE = r"\d{4,}-\d\d-\d\d(?: \(BC\))?"
_TIME = r"\d\d:\d\d:\d\d(?:\.\d+)?"
_END = rf"({_NUMBER}|{_DATE}(?: {_TIME}(?:\+00)?)?|{_TIME})"
_POINT = re.compile(_END, re.ASCII)
_RANGE = re.compile(rf"\[{_END}, {_END}\]", re.ASCII)


def _is_bare(value: str) -> bool:
    return not _wants_quotes(value) and not _SPECIAL.search(value)


@lru_cache(maxsize=1024)
def _wants_quotes(value: str) -> bool:
    """Whether a value without special characters must stand in quotes all the same."""
    return value in ("", STAR, "NULL") or value != value.strip()


def text(value: str) -> str:
    """A text value as it stands in a label, alone or in a set."""
    return value if _is_bare(value) else quoted(value)


def quoted(value: str) -> str:
    """A text value in quotes, whether it needs them or not."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def of_set(values: Sequence[str]) -> str:
    """The label of a class's distinct text values, which come sorted by bytes."""
    return joined([text(value) for value in values])


def joined(written: Sequence[str]) -> str:
    """The label of values that ``text`` has written."""
    return written[0] if len(written) == 1 else "{" + ", ".join(written) + "}"


def values(label: str) -> list[str] | None:
    """The values of a text label; None for ``*`` and a range. ValueError if malformed."""
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
    """The printed ends of a numeric label; None for ``*`` and text. ValueError if malformed."""
    ends = _range(label)
    if ends is None and _POINT.fullmatch(label):
        return label, label
    if ends is None:
        values(label)
    return ends


def _range(label: str) -> tuple[str, str] | None:
    if not label.startswith("["):
        return None
    found = _RANGE.fullmatch(label)
    if found is None:
        raise ValueError("a range that is not [low, high]")
    return found[1], found[2]


def _value(label: str, at: int) -> tuple[str, int]:
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
    """``reader`` of every label, each distinct one read once; NULL stays NULL.

    Raises AnonError for a malformed label, without showing it.
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
    """The words of a set of codes; None where NULL stands among values, [] where it is alone.

    NULL is the code after the last word, and codes come ascending.
    """
    if codes[-1] == len(known):
        return [] if len(codes) == 1 else None
    return [known[code] for code in codes]
