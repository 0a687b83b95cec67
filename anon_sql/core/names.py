"""Write and split SQL identifiers, literals and patterns of files."""

from pathlib import Path


def quote(name: str) -> str:
    """Return a name as a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as a SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


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
    found, quoted = [""], False
    for char in text:
        quoted ^= char == '"'
        if char == separator and not quoted:
            found.append("")
        else:
            found[-1] += char
    return found
