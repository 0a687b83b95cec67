"""Read and print the codes of a statistics file that mean a missing value, column by column.

A code is a text, also where it is a number: '99', or a range of numbers: '-9 to -1', '90 to HI'.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from anon_sql.apps.formats.dictionary import spelled
from anon_sql.core.names import literal
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, Option, Words, listed

Missing = tuple[tuple[str, tuple[str, ...]], ...]
_RANGE = " to "
_LOW, _HIGH = "LO", "HI"
_FAR = 1e300  # SPSS writes an open end as the largest number


def of_options(function: str, texts: Sequence[str]) -> Missing:
    """Return the codes that options name, each COLUMN=CODE; COLUMN= alone means none."""
    codes_of: dict[str, list[str]] = {}
    for text in texts:
        column, sign, code = text.partition("=")
        if not sign or not column:
            rule = Option("--missing", verb="") + " must be COLUMN=CODE"
            raise AnonError(function, rule, "another text", "write --missing income=99")
        codes_of.setdefault(column, []).extend([code.strip()] if code.strip() else [])
    return _checked(function, codes_of, Option("--missing", verb=""))


def of_recipe(function: str, stated: Mapping[str, Any]) -> Missing:
    """Return the codes in [source] of a recipe: a list by column."""
    wrong = [name for name, codes in stated.items() if not isinstance(codes, list)]
    if wrong:
        rule = "missing in [source] must have a list of codes for each column"
        raise AnonError(function, rule, f"another value for {listed(wrong)}")
    codes_of = {
        name: [spelled(c) if _is_number(c) else str(c) for c in stated[name]] for name in stated
    }
    return _checked(function, codes_of, "missing in [source]")


def _is_number(code: object) -> bool:
    return isinstance(code, (int, float)) and not isinstance(code, bool)


def _checked(function: str, codes_of: Mapping[str, Sequence[str]], what: str | Words) -> Missing:
    seen: set[str] = set()
    for name in codes_of:
        if fold(name) in seen:
            raise AnonError(function, what + " must name a column once", listed([name]))
        seen.add(fold(name))
    return tuple((name, tuple(codes)) for name, codes in codes_of.items())


def declared(ranges: Sequence[Any]) -> tuple[str, ...]:
    """Return the codes that a file declares missing. ranges: as pyreadstat gives them."""
    codes = []
    for each in ranges:
        low, high = (each["lo"], each["hi"]) if isinstance(each, dict) else (each, each)
        if low == high:
            codes.append(spelled(low))
            continue
        ends = (_LOW if low < -_FAR else spelled(low), _HIGH if high > _FAR else spelled(high))
        codes.append(_RANGE.join(ends))
    return tuple(codes)


def condition(x: str, code: str, *, text: bool) -> str:
    """Return the SQL condition that a value is a code. text: whether its column is one of texts."""
    if text:
        return f"{x} = {literal(code)}"
    low, between, high = code.partition(_RANGE)
    if not between:
        return f"{x} = {float(code)!r}"
    tests = [f"{x} >= {float(low)!r}"] if low != _LOW else []
    tests += [f"{x} <= {float(high)!r}"] if high != _HIGH else []
    return f"({' AND '.join(tests) or f'{x} IS NOT NULL'})"


def require_numbers(function: str, name: str, codes: Sequence[str]) -> None:
    """Raise AnonError for codes of missing values that a column of numbers cannot have."""
    for code in codes:
        low, between, high = code.partition(_RANGE)
        ends = [(low, _LOW), (high, _HIGH)] if between else [(code, None)]
        if not all(end == open_end or _is_finite(end) for end, open_end in ends):
            rule = f"the missing codes of {listed([name])} must be numbers, or ranges of them"
            hint = "write 99, '-9 to -1' or '90 to HI'"
            raise AnonError(function, rule, "a text", hint)


def _is_finite(text: str) -> bool:
    try:
        return abs(float(text)) < _FAR
    except ValueError:
        return False
