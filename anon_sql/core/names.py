"""Write and split SQL identifiers, literals and patterns of files."""

from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any


def quote(name: str) -> str:
    """Return a name as a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as a SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def sql_value(value: Any) -> str:
    """Return a value as SQL writes it; values are texts, numbers, and lists and maps of them."""
    if isinstance(value, str):
        return literal(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{sql_value(name)}: {sql_value(item)}" for name, item in value.items())
        return f"MAP {{{pairs}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(sql_value, value))}]"
    if isinstance(value, float) and not isfinite(value):
        return f"'{value}'::DOUBLE"
    return repr(value)


def exactly(path: Path) -> str:
    """Return DuckDB's pattern that matches a path as it is."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in str(path.absolute()))


def split(name: str) -> list[str]:
    """Return the parts of a qualified name without quotes: ``db."a.b"`` is ``['db', 'a.b']``."""
    return [
        part[1:-1].replace('""', '"') if part[:1] == part[-1:] == '"' else part.replace('"', "")
        for part in pieces(name, ".")
    ]


def pieces(text: str, separator: str) -> list[str]:
    """Return the parts of a text between separators, ignoring separators in double quotes."""
    parts, quoted = [""], False
    for char in text:
        quoted ^= char == '"'
        if char == separator and not quoted:
            parts.append("")
        else:
            parts[-1] += char
    return parts
