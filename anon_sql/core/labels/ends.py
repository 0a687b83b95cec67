"""Read the printed ends of ranges, which may lie outside the type of their column.

An end that the type cannot hold is read as the outermost value of the type within the range, so
that the range covers what it covers: '[79.5, 300]' of a UTINYINT from 80 to 255.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, InvalidOperation

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core.arrow import true, valid
from anon_sql.core.printing import cast

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
    """m ends of one side. values: in the column's type, NULL where no value of the type lies within
    the range on this side, or the text is none of its kind. exact: bool[m], whether it holds them.
    """

    values: pa.Array
    exact: Bools


def read_ends(types: Sequence[str], texts: Sequence[tuple[pa.Array, pa.Array]]) -> list[list[End]]:
    """Return the lower and the upper ends of each column of numbers, dates or times.

    types: SQL types; texts: the printed lower and upper ends, NULL for none.
    """
    flat = [text for pair in texts for text in pair]
    kinds = [kind for kind in types for _ in range(2)]
    found = [End(values, valid(values)) for values in cast(flat, kinds)]
    for at, (kind, text) in enumerate(zip(kinds, flat, strict=True)):
        odd = np.flatnonzero(_odd(kind, text, found[at]))
        if len(odd):
            found[at] = _within(kind, text, odd, upper=at % 2 == 1)
    return [found[at : at + 2] for at in range(0, len(found), 2)]


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


def _fixed(kind: str) -> tuple[int, Decimal, Decimal] | None:
    """Return digits after the point and both ends of a type of fixed point; None for others."""
    if kind in _BITS:
        least = 0 if kind.startswith("U") else -(2 ** (_BITS[kind] - 1))
        return 0, Decimal(least), Decimal(least + 2 ** _BITS[kind] - 1)
    if not kind.startswith("DECIMAL("):
        return None
    width, scale = map(int, kind[len("DECIMAL(") : -1].split(","))
    most = Decimal(10**width - 1).scaleb(-scale, _DIGITS)
    return scale, -most, most


def _within(kind: str, texts: pa.Array, odd: npt.NDArray[np.int64], *, upper: bool) -> End:
    """Return ends of which some are read as the next value of the type within the range."""
    known = texts.to_pylist()
    exact = np.ones(len(known), np.bool_)
    fixed = _fixed(kind)
    if fixed is None:
        wide = valid(cast([texts], ["TIMESTAMP"])[0])
        for at in odd.tolist():
            exact[at], known[at] = (
                False,
                _beyond(known[at], _SPANS[kind], upper) if wide[at] else None,
            )
    else:
        for at in odd.tolist():
            known[at], exact[at] = _rounded(known[at], *fixed, upper=upper)
    values = cast([pa.array(known, pa.string())], [kind])[0]
    return End(values, exact & valid(values))


def _beyond(text: str, span: tuple[str, str], upper: bool) -> str | None:
    """Return the end of a span that a timestamp before or after it is read as, if any."""
    later = not text.endswith("(BC)") and text.partition("-")[0] > "2000"
    return span[upper] if later == upper else None


def _rounded(
    text: str, scale: int, least: Decimal, most: Decimal, *, upper: bool
) -> tuple[str | None, bool]:
    """Return a number rounded into the range and the type, and whether it is the same number."""
    try:
        end = Decimal(text)
    except InvalidOperation:
        return None, False
    if not end.is_finite() or (end < least if upper else end > most):
        return None, False
    if end > most or end < least:
        return format(most if upper else least, "f"), False
    rounding = ROUND_FLOOR if upper else ROUND_CEILING
    kept = end.quantize(Decimal(1).scaleb(-scale), rounding, _DIGITS)
    return format(kept, "f"), kept == end
