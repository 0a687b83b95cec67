"""Hierarchy files as the field writes them: no header, leaf first, one column a level."""

import csv
from collections.abc import Iterator
from io import StringIO
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa

from anon_sql.core.arrow import first
from anon_sql.core.hierarchy.made import PATH
from anon_sql.errors import AnonError
from anon_sql.hosts.duckdb.registry import sql_type, udf

_FUNCTION = "read_hierarchies"


@udf("__anon_hierarchy_file", sql_type(pa.list_(PATH)))
def hierarchy_file(pattern: Any, names: Any, contents: Any) -> pa.Array:
    """The rows of all files; the first level above the value is 1.

    A path that holds the value alone gives it as its own label. Empty cells after the value are
    left out.
    """
    files = list(zip(first(names) or [], first(contents) or [], strict=True))
    if not files:
        given = first(pattern)
        raise AnonError(_FUNCTION, "there must be a file to read", f"none at {given}")
    found = []
    for name, content in files:
        attribute = PurePosixPath(name.replace("\\", "/")).name.partition(".")[0]
        found += [{"attribute": attribute, **row} for row in _rows(attribute, content)]
    return pa.array([found], pa.list_(PATH))


def _rows(attribute: str, content: bytes) -> Iterator[dict[str, Any]]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        raise AnonError(
            _FUNCTION,
            "a file must be UTF-8",
            f"something else in {attribute} at byte {wrong.start:,}",
            "convert it, for instance with iconv -t UTF-8",
        ) from None
    for value, *above in _lines(attribute, text):
        labels = [cell for cell in above if cell] or [value]
        for level, label in enumerate(labels, 1):
            yield {"value": value, "level": level, "label": label}


def _lines(attribute: str, text: str) -> list[list[str]]:
    """The cells of every line that is not blank, by the separator that all of them have.

    A quote within a cell speaks for the other separator: then it opens one of that one's cells.
    """
    parsed = [lines for separator in ";," if (lines := _parsed(text, separator))]
    if parsed:
        return min(parsed, key=lambda lines: any('"' in cell for line in lines for cell in line))
    raise AnonError(
        _FUNCTION,
        "every line of a file must hold a value and the labels above it, separated by ; or ,",
        f"{attribute} with a line that does not" if text.strip() else f"nothing in {attribute}",
        "a cell that holds the separator or a line break must stand in double quotes",
    )


def _parsed(text: str, separator: str) -> list[list[str]] | None:
    """None where the separator does not fit."""
    before = csv.field_size_limit(max(len(text), 1 << 17))
    try:
        lines = list(csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True))
    except csv.Error:
        return None
    finally:
        csv.field_size_limit(before)
    lines = [line for line in lines if any(line)]
    return lines if lines and all(len(line) > 1 for line in lines) else None
