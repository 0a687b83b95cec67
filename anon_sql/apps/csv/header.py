"""Take the names of the columns of a CSV file from its first line."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from anon_sql.apps.csv.source import CsvSource
from anon_sql.core.names import quote
from anon_sql.core.roles import fold
from anon_sql.errors import Option, looks_like_name

_RULE = "have a header in line 1"
_IF_ROW = " if line 1 is a row"
_HINT = (
    Option("--no-header") + _IF_ROW + ", or " + Option("--header", verb="") + " if it is the header"
)


@dataclass(frozen=True)
class Header:
    """The columns of a file.

    written: the names in line 1, numbered ones for those that are empty. names: the names of the
    columns. numbered: the columns of each name that occurs more than once.
    """

    written: list[str]
    names: list[str]
    numbered: list[list[str]]


def header_of(source: CsvSource, first: Sequence[str]) -> Header:
    """Return the columns of a file. Raises AnonError if most names look like values.

    A column without a name is ``column_`` and its number. Names that are equal, but for case, all
    get a number: a role that is declared for the name, as it stands in the file, is for neither.
    """
    if source.dialect.header is False:
        names = [f"column_{position}" for position in range(1, len(first) + 1)]
        return Header(names, names, [])
    stripped = [name.strip() for name in first]
    written = [name or f"column_{position}" for position, name in enumerate(stripped, 1)]
    if source.dialect.header is None:
        strange = sum(map(_looks_like_value, stripped))
        _check(source, strange * 2 > len(written), strange, len(written), "look like values")
    return numbered(written)


def numbered(written: Sequence[str]) -> Header:
    """Return columns with names of their own; those of equal names are numbered from 1."""
    counts = Counter(map(fold, written))
    used, names = {*counts}, list(written)
    same_name: dict[str, list[str]] = {}
    for position, name in enumerate(written):
        if counts[fold(name)] == 1:
            continue
        same = same_name.setdefault(fold(name), [])
        number = len(same) + 1
        while fold(f"{name}_{number}") in used:
            number += 1
        names[position] = f"{name}_{number}"
        used.add(fold(names[position]))
        same.append(names[position])
    return Header([*written], names, [*same_name.values()])


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
    same = [
        f"coalesce(bool_or({quote(f'f{position}')} = ?), false)" for position in range(len(names))
    ]
    matches = con.execute(f"SELECT {', '.join(same)} FROM {quote(texts)}", list(names)).fetchone()
    stands = sum(matches or ())
    _check(source, stands * 2 > len(names), stands, len(names), "are values of their columns")


def _looks_like_value(text: str) -> bool:
    """Return whether a text looks like a value and not like a name, be it one with odd signs."""
    odd = "@" in text or not any(map(str.isalpha, text)) or any(map(str.isdigit, text))
    return odd and not looks_like_name(text)


def _check(source: CsvSource, wrong: bool, count: int, columns: int, what: str) -> None:
    if wrong:
        raise source.error(_RULE, f"{count:,} of {columns:,} names that {what}", _HINT)
