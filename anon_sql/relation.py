"""Which table a name in a call means, found the way DuckDB finds it.

Comments are read twice: when the statement is bound, through a connection of our own, and
inside the statement, as the caller sees them. Only where both agree do they count.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anon_sql.roles import fold


@dataclass(frozen=True)
class Scope:
    """Where an unqualified name is looked up: the caller's current database and schemas."""

    database: str
    schema: str
    path: str

    def places(self) -> list[tuple[str, str]]:
        """(database, schema) pairs in DuckDB's order, temporary tables first."""
        found = [("temp", "main")]
        for entry in split(self.path, ",") if self.path else []:
            parts = split(entry.strip(), ".")
            found.append((parts[0], parts[1]) if len(parts) == 2 else (self.database, parts[0]))
            if len(parts) == 1:
                found.append((parts[0], "main"))
        return [*found, (self.database, self.schema), (self.database, "main")]


@dataclass(frozen=True)
class Table:
    """A table as the catalog knows it: names, SQL types and comments of its columns, in order."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    comments: tuple[str | None, ...]

    def tags(self) -> dict[str, str | None]:
        """Comment by folded column name."""
        return {fold(n): c for n, c in zip(self.names, self.comments, strict=True)}


def split(name: str, separator: str = ".") -> list[str]:
    """The parts of a qualified name, quotes removed: ``'db."a.b"'`` is ``['db', 'a.b']``."""
    parts, part, quoted, at = [], "", False, 0
    while at < len(name):
        char = name[at]
        if char == '"':
            if quoted and name[at + 1 : at + 2] == '"':
                part, at = part + '"', at + 1
            else:
                quoted = not quoted
        elif char == separator and not quoted:
            parts.append(part)
            part = ""
        else:
            part += char
        at += 1
    return [*parts, part]


def quote(name: str) -> str:
    """An identifier as SQL text."""
    return '"' + name.replace('"', '""') + '"'


def find(name: str, scope: Scope, columns: Iterable[Mapping[str, Any]]) -> Table | None:
    """The table a relation's name means among the ``columns`` a catalog lists, or None.

    columns: mappings with ``database``, ``schema``, ``relation``, ``name``, ``type``,
    ``comment`` and ``at`` (the column's position).
    """
    by_table: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for column in columns:
        key = (fold(column["database"]), fold(column["schema"]), fold(column["relation"]))
        by_table.setdefault(key, []).append(column)
    for place in _candidates([fold(part) for part in split(name)], scope):
        if place in by_table:
            listed = sorted(by_table[place], key=lambda column: column["at"])
            return Table(
                tuple(c["name"] for c in listed),
                tuple(c["type"] for c in listed),
                tuple(c["comment"] for c in listed),
            )
    return None


def _candidates(parts: Sequence[str], scope: Scope) -> list[tuple[str, str, str]]:
    places = [(fold(database), fold(schema)) for database, schema in scope.places()]
    if len(parts) == 3:
        return [(parts[0], parts[1], parts[2])]
    if len(parts) == 2:
        schemas = [(database, parts[0], parts[1]) for database, _ in places]
        return [*schemas, (parts[0], "main", parts[1])]
    return [(database, schema, parts[0]) for database, schema in places]
