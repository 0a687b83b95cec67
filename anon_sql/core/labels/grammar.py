"""Print and parse labels: a value, a range ``[low, high]``, a set ``{a, b}`` or ``*``.

Text is written without quotes unless it would be ambiguous; otherwise in single quotes, with
``\\'`` and ``\\\\`` as escapes. The ends of ranges are printed by DuckDB in the column's type, and
those of ordered categories are written as text is, ``[low, medium]``.

A method may recode all rows of a column without a hierarchy in the same way. The nodes that it
chose are then: ``AS_CLASS`` if the label is made of the values of the class; ``STARRED`` if it is
``*``, as of suppressed rows; and numbers from 0, the bins of a column of numbers, whose label is
the range of all released values in the bin.

The printed ends of ranges may lie outside the type of their column. An end that the type cannot
represent is read as the outermost value of the type within the range, so that the range covers what
it covers: '[79.5, 300]' of a UTINYINT from 80 to 255.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, InvalidOperation
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core.arrow import true, valid
from anon_sql.core.printing import cast
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


def of_range(low: str, high: str) -> str:
    """Return the label of a range of ordered categories."""
    return f"[{text(low)}, {text(high)}]"


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
        parsed = label[1:-1].split(", ")
        if not any(_wants_quotes(value) or "," in value for value in parsed):
            return parsed
    parsed, position = [], 1
    while True:
        value, position = _value(label, position)
        parsed.append(value)
        if label[position:] == "}":
            return parsed
        if not label.startswith(", ", position):
            raise ValueError("a set that does not close or go on with ', '")
        position += 2


def bounds(label: str) -> tuple[str, str] | None:
    """Return the printed ends of a range or number; None for ``*`` and text.

    The ends of a range of ordered categories are returned without quotes.

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
    matched = _RANGE.fullmatch(label)
    return _text_ends(label) if matched is None else (matched[1], matched[2])


def _text_ends(label: str) -> tuple[str, str]:
    """Return the ends of a range of ordered categories."""
    low, position = _value(label, 1)
    if not label.startswith(", ", position):
        raise ValueError("a range that is not [low, high]")
    high, position = _value(label, position + 2)
    if label[position:] != "]":
        raise ValueError("a range that is not [low, high]")
    return low, high


def _value(label: str, position: int) -> tuple[str, int]:
    """Parse the text value at position ``at``; return it and the position after it."""
    quoted = _QUOTED.match(label, position)
    if quoted:
        return re.sub(r"\\(.)", r"\1", quoted[1], flags=re.DOTALL), quoted.end()
    plain = _PLAIN.match(label, position)
    if plain is None:
        opened = label.startswith("'", position)
        raise ValueError("a quote that does not close" if opened else "no value where one must be")
    if not _is_bare(plain[0]):
        raise ValueError("a value that must stand in quotes")
    return plain[0], plain.end()


def map_labels(
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
        results = [reader(label) for label in coded.dictionary.to_pylist()]
    except ValueError as wrong:
        raise AnonError(
            function, "a label must be a value, [low, high], {…} or *", str(wrong)
        ) from None
    return pa.array(results, item).take(coded.indices)


def words(codes: Sequence[int], values_by_code: Sequence[str]) -> list[str] | None:
    """Return the values of a set of codes: [] for NULL alone, None for NULL together with values.

    codes: ascending.
    values_by_code: the value of each code; their number is the code of NULL.
    """
    if codes[-1] == len(values_by_code):
        return [] if len(codes) == 1 else None
    return [values_by_code[code] for code in codes]


AS_CLASS, STARRED = -1, -2
Codes = npt.NDArray[np.int32]


def of_classes(nodes: Codes | None, order: Codes, starts: npt.NDArray[np.int64]) -> Codes:
    """Return the node of each of m classes, int32[m]; AS_CLASS if the method chose none.

    nodes: int32[n], of the rows. order, starts: as in ``Classes``.
    """
    if nodes is None:
        return np.full(len(starts) - 1, AS_CLASS, dtype=np.int32)
    class_nodes: Codes = nodes[order[starts[:-1]]].astype(np.int32)
    return class_nodes


def shared_ends(
    bins: Codes, keys: npt.NDArray[np.int64], low: Codes, high: Codes
) -> tuple[Codes, Codes]:
    """Return the rows with the least and greatest key of each class, int32[m], widened to its bin.

    bins: int32[m], see ``of_classes``.
    keys: int64[n] of the rows.
    low, high: int32[m], the rows with the least and greatest key of each class itself, -1 if every
        row is NULL.
    """
    binned = np.flatnonzero((bins >= 0) & (low >= 0))
    if len(binned) == 0:
        return low, high
    widened = []
    for end, sign in ((low, 1), (high, -1)):
        first = np.lexsort((keys[end[binned]] * sign, bins[binned]))
        used, positions = np.unique(bins[binned][first], return_index=True)
        widest = end.copy()
        widest[binned] = end[binned][first][positions][np.searchsorted(used, bins[binned])]
        widened.append(widest)
    return widened[0], widened[1]


Bools = npt.NDArray[np.bool_]
_BITS = {
    "TINYINT": 8,
    "SMALLINT": 16,
    "INTEGER": 32,
    "BIGINT": 64,
    "HUGEINT": 128,
    "UTINYINT": 8,
    "USMALLINT": 16,
    "UINTEGER": 32,
    "UBIGINT": 64,
    "UHUGEINT": 128,
}
_DIGITS = Context(prec=120)  # more than the 39 digits of the widest type, twice
_SPANS = {  # the years of TIMESTAMP are those of a label; nanoseconds reach less far
    "TIMESTAMP_NS": ("1677-09-22 00:00:00", "2262-04-11 23:47:16.854775806"),
}


@dataclass(frozen=True)
class End:
    """m ends of one side.

    values: in the column's type; NULL if no value of the type lies within the range on this side,
        or the text is not such an end.
    exact: bool[m], whether the type can represent them.
    """

    values: pa.Array
    exact: Bools


def read_ends(types: Sequence[str], texts: Sequence[tuple[pa.Array, pa.Array]]) -> list[list[End]]:
    """Return the lower and the upper ends of each column of numbers, dates or times.

    types: SQL types; texts: the printed lower and upper ends, NULL for none.
    """
    flat = [text for pair in texts for text in pair]
    kinds = [kind for kind in types for _ in range(2)]
    ends = [End(values, valid(values)) for values in cast(flat, kinds)]
    for i, (kind, text) in enumerate(zip(kinds, flat, strict=True)):
        odd = np.flatnonzero(_odd(kind, text, ends[i]))
        if len(odd):
            ends[i] = _within(kind, text, odd, upper=i % 2 == 1)
    return [ends[i : i + 2] for i in range(0, len(ends), 2)]


def _odd(kind: str, texts: pa.Array, read: End) -> Bools:
    """Return which ends a cast may have changed: those it failed for, and longer fractions."""
    fixed = _fixed(kind)
    if fixed is None and kind not in _SPANS:
        return np.zeros(len(texts), np.bool_)
    odd: Bools = valid(texts) & ~valid(read.values)
    if fixed is not None:
        longer = rf"\.\d{{{fixed[0] + 1},}}|e"
        odd |= true(pc.match_substring_regex(texts, longer))
    return odd


class _FixedPoint(NamedTuple):
    """A type of fixed point: digits after the point, and its least and largest value."""

    scale: int
    lowest: Decimal
    highest: Decimal


def _fixed(kind: str) -> _FixedPoint | None:
    """Return digits after the point and both ends of a type of fixed point; None for others."""
    if kind in _BITS:
        lowest = 0 if kind.startswith("U") else -(2 ** (_BITS[kind] - 1))
        return _FixedPoint(0, Decimal(lowest), Decimal(lowest + 2 ** _BITS[kind] - 1))
    if not kind.startswith("DECIMAL("):
        return None
    width, scale = map(int, kind[len("DECIMAL(") : -1].split(","))
    highest = Decimal(10**width - 1).scaleb(-scale, _DIGITS)
    return _FixedPoint(scale, -highest, highest)


def _within(kind: str, texts: pa.Array, odd: npt.NDArray[np.int64], *, upper: bool) -> End:
    """Return ends of which some are read as the next value of the type within the range."""
    end_texts = texts.to_pylist()
    exact = np.ones(len(end_texts), np.bool_)
    fixed = _fixed(kind)
    if fixed is None:
        wide = valid(cast([texts], ["TIMESTAMP"])[0])
        for i in odd.tolist():
            exact[i], end_texts[i] = (
                False,
                _beyond(end_texts[i], _SPANS[kind], upper) if wide[i] else None,
            )
    else:
        for i in odd.tolist():
            end_texts[i], exact[i] = _rounded(end_texts[i], *fixed, upper=upper)
    values = cast([pa.array(end_texts, pa.string())], [kind])[0]
    return End(values, exact & valid(values))


def _beyond(text: str, span: tuple[str, str], upper: bool) -> str | None:
    """Return the end of a span that a timestamp before or after it is read as, if any."""
    later = not text.endswith("(BC)") and text.partition("-")[0] > "2000"
    return span[upper] if later == upper else None


def _rounded(
    text: str, scale: int, lowest: Decimal, highest: Decimal, *, upper: bool
) -> tuple[str | None, bool]:
    """Return a number rounded into the range and the type, and whether it is the same number."""
    try:
        end = Decimal(text)
    except InvalidOperation:
        return None, False
    if not end.is_finite() or (end < lowest if upper else end > highest):
        return None, False
    if end > highest or end < lowest:
        return format(highest if upper else lowest, "f"), False
    rounding = ROUND_FLOOR if upper else ROUND_CEILING
    kept = end.quantize(Decimal(1).scaleb(-scale), rounding, _DIGITS)
    return format(kept, "f"), kept == end
