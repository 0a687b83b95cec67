"""Take the names of columns from the first line of a CSV file, and refuse a line of values."""

from collections.abc import Sequence

import duckdb

from anon_sql.apps.csv_files.csv_source import CsvSource
from anon_sql.core.names import quote
from anon_sql.core.roles import fold
from anon_sql.errors import looks_like_name

_RULE = "have a header in line 1"
_HINT = "pass --no-header if line 1 is a row, or --header if it is the header"


def column_names(source: CsvSource, first: Sequence[str]) -> list[str]:
    """Return the names of the columns; one without a name is ``column_`` and its number.

    Raises AnonError if two names are equal, or if most look like values.
    """
    if source.dialect.header is False:
        return [f"column_{at}" for at in range(1, len(first) + 1)]
    stripped = [name.strip() for name in first]
    names = [name or f"column_{at}" for at, name in enumerate(stripped, 1)]
    if source.dialect.header is None:
        strange = sum(map(_looks_like_value, stripped))
        _check(source, strange * 2 > len(names), strange, len(names), "look like values")
    seen: dict[str, int] = {}
    for at, name in enumerate(names, 1):
        other = seen.setdefault(fold(name), at)
        if other != at:
            got = f"columns {other:,} and {at:,} with one name"
            raise source.error("have a header of different names", got, _HINT)
    return names


def check_values(
    con: duckdb.DuckDBPyConnection,
    source: CsvSource,
    texts: str,
    names: Sequence[str],
    types: Sequence[str],
) -> None:
    """Raise AnonError if the names are probably values of their columns.

    They are if a name is a number or a time as all values of its column are, or if more than half
    of the names also stand among the values. texts: the table of texts, whose columns are f0, f1, …
    """
    if source.dialect.header is not None:
        return
    typed = [(name, kind) for name, kind in zip(names, types, strict=True) if kind != "VARCHAR"]
    casts = [f"TRY_CAST(? AS {kind}) IS NOT NULL" for _, kind in typed]
    if casts:
        fits = con.execute(f"SELECT {', '.join(casts)}", [name for name, _ in typed]).fetchone()
        _check(source, any(fits or ()), sum(fits or ()), len(names), "are values of their columns")
    same = [f"coalesce(bool_or({quote(f'f{at}')} = ?), false)" for at in range(len(names))]
    found = con.execute(f"SELECT {', '.join(same)} FROM {quote(texts)}", list(names)).fetchone()
    stands = sum(found or ())
    _check(source, stands * 2 > len(names), stands, len(names), "are values of their columns")


def _looks_like_value(text: str) -> bool:
    """Return whether a text looks like a value and not like a name, be it one with odd signs."""
    odd = "@" in text or not any(map(str.isalpha, text)) or any(map(str.isdigit, text))
    return odd and not looks_like_name(text)


def _check(source: CsvSource, wrong: bool, count: int, columns: int, what: str) -> None:
    if wrong:
        raise source.error(_RULE, f"{count:,} of {columns:,} names that {what}", _HINT)
