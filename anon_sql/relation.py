"""Which table a name in a call means, found the way DuckDB finds it.

Comments are read twice: when the statement is bound, through a connection of our own, and
inside the statement, as the caller sees them. Only where both agree do they count.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anon_sql.errors import AnonError
from anon_sql.roles import fold


@dataclass(frozen=True)
class Scope:
    """Where an unqualified name is looked up: the caller's current database and schemas."""

    database: str
    schema: str
    path: str

    def places(self) -> list[tuple[str, str]]:
        """Folded (database, schema) pairs of the search path, in order; ``temp`` is not of it."""
        found = []
        for entry in _pieces(fold(self.path), ",") if self.path else []:
            *database, schema = split(entry)
            found.append((database[0] if database else fold(self.database), schema))
        return found or [(fold(self.database), fold(self.schema))]


@dataclass(frozen=True)
class Table:
    """A table as the catalog knows it: names, SQL types and comments of its columns, in order."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    comments: tuple[str | None, ...]

    def tags(self) -> dict[str, str | None]:
        """Comment by folded column name."""
        return {fold(n): c for n, c in zip(self.names, self.comments, strict=True)}


def split(name: str) -> list[str]:
    """The parts of a qualified name, quotes removed: ``'db."a.b"'`` is ``['db', 'a.b']``."""
    return [
        part[1:-1].replace('""', '"') if part[:1] == part[-1:] == '"' else part.replace('"', "")
        for part in _pieces(name, ".")
    ]


def _pieces(text: str, separator: str) -> list[str]:
    """What stands between separators, those in double quotes left alone."""
    pieces, quoted = [""], False
    for char in text:
        quoted ^= char == '"'
        if char == separator and not quoted:
            pieces.append("")
        else:
            pieces[-1] += char
    return pieces


def quote(name: str) -> str:
    """An identifier as SQL text."""
    return '"' + name.replace('"', '""') + '"'


def find(name: str, scope: Scope, columns: Iterable[Mapping[str, Any]]) -> Table | None:
    """The table a relation's name means among the ``columns`` a catalog lists, or None.

    columns: mappings with ``database``, ``schema``, ``relation``, ``name``, ``type``,
    ``comment`` and ``at`` (the column's position). Raises AnonError for a name that DuckDB
    does not read as it stands.
    """
    by_table = _tables(columns)
    parts = split(name)
    place = next((at for at in _candidates(parts, scope) if at in by_table), None)
    if len(parts) == 2 and fold(parts[0]) == "main":
        # query_table prints the name again without "main", and so may read another schema.
        read = next((at for at in _candidates(parts[1:], scope) if at in by_table), None)
        if read != place:
            raise AnonError(
                "anon_sql",
                "a name in schema main needs its database where another schema comes first",
                f"'{name}'",
                f"write {'.'.join(map(quote, (scope.database, *parts)))}",
            )
    return None if place is None else by_table[place]


def namesakes(name: str, columns: Iterable[Mapping[str, Any]]) -> list[Table]:
    """Every table that has the name in any schema; none for a name that is written in full."""
    parts = split(name)
    known = _tables(columns).items() if len(parts) < 3 else []
    return [table for place, table in known if place[2] == fold(parts[-1])]


def _tables(columns: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str, str], Table]:
    by_table: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for column in sorted(columns, key=lambda column: column["at"]):
        key = (fold(column["database"]), fold(column["schema"]), fold(column["relation"]))
        by_table.setdefault(key, []).append(column)
    return {
        key: Table(
            tuple(c["name"] for c in listed),
            tuple(c["type"] for c in listed),
            tuple(c["comment"] for c in listed),
        )
        for key, listed in by_table.items()
    }


def _candidates(parts: Sequence[str], scope: Scope) -> list[tuple[str, str, str]]:
    """Where DuckDB looks for a name, in its order, folded."""
    places, current = scope.places(), fold(scope.database)
    *qualifier, table = [fold(part) for part in parts]
    if not qualifier:
        return [(*place, table) for place in [("temp", "main"), *places, (current, "main")]]
    if len(qualifier) > 1:
        return [(qualifier[0], qualifier[1], table)] if len(qualifier) == 2 else []
    name = qualifier[0]
    schemas = [schema for database, schema in places if database == name] or ["main"]
    databases = [database for database, schema in places if schema == name] or [current]
    if name == "main":
        databases = ["temp", *databases, current]
    return [
        *((name, schema, table) for schema in schemas),
        *((database, name, table) for database in databases),
    ]
