"""Read a CSV file once, to count its rows and to find the line that is wrong."""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from anon_sql.apps.csv_files.csv_source import CsvSource
from anon_sql.core import interrupt

_ASK = 1 << 14  # rows between two looks for a request to stop
_LONGEST = (1 << 31) - 1  # bytes of a field, as for columns of text in Arrow
_DELIMITERS = {",": "','", ";": "';'", "\t": "tab", "|": "'|'"}
_END = "unexpected end of data"  # csv's words for a quote that does not close


@dataclass(frozen=True)
class Scanned:
    """What a file holds. first: the fields of its first line. rows: of all lines."""

    first: list[str]
    rows: int


def scan(source: CsvSource) -> Scanned:
    """Return the first line and the number of rows. Raises AnonError that names a wrong line.

    Empty lines are no rows, but in a file of one column they are rows with an empty field.
    """
    with source.lines() as lines, _long_fields():
        reader = csv.reader(lines, **source.dialect.python())
        before = rows = 0
        first: list[str] = []
        try:
            for row in reader:
                if not first:
                    first = row
                    _check_first(source, first)
                    columns = len(first)
                elif len(row) != columns and (row or columns == 1):
                    if row:
                        raise _fields(source, columns, before + 1, len(row))
                    rows += 1
                elif row:
                    rows += 1
                    if not rows % _ASK:
                        interrupt.check(source.function)
                before = reader.line_num
        except csv.Error as wrong:
            raise _unreadable(source, str(wrong), before + 1, reader.line_num) from None
    if not first:
        raise source.error("have a header", "an empty file")
    return Scanned(first, rows + 1)


def _check_first(source: CsvSource, first: list[str]) -> None:
    """Raise AnonError if the first line is empty or seems to have another delimiter."""
    if not first or (source.dialect.header is not False and not any(map(str.strip, first))):
        raise source.error("begin with a header", "an empty first line")
    if len(first) > 1 or source.told:
        return
    mine = _DELIMITERS[source.dialect.delimiter or ","]
    for sign, written in _DELIMITERS.items():
        if sign in first[0]:
            hint = f"pass --delimiter {written}, or --delimiter {mine} if there is one column"
            got = f"{written} and no {mine} in line 1"
            raise source.error(f"have fields between {mine}", got, hint)


def _fields(source: CsvSource, columns: int, line: int, found: int) -> Exception:
    rule = f"have as many fields in every line as in the first, {columns:,}"
    hint = "a field that holds the delimiter must stand in quotes" if found > columns else None
    return source.error(rule, f"{found:,} in line {line:,}", hint)


def _unreadable(source: CsvSource, wrong: str, first: int, last: int) -> Exception:
    """Return the error for a record that csv refuses, by the lines that it stands in."""
    where = f"line {first:,}" if first >= last else f"lines {first:,} to {last:,}"
    hint = "write a quote inside a field twice, or pass --quote '' if quotes are text"
    if wrong == _END:
        return source.error("close every quote", f"one open from line {first:,} to the end", hint)
    return source.error("have quotes around whole fields only", f"others in {where}", hint)


@contextmanager
def _long_fields() -> Iterator[None]:
    before = csv.field_size_limit(_LONGEST)
    try:
        yield
    finally:
        csv.field_size_limit(before)
