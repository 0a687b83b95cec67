"""Resolve the name of a relation to a table by DuckDB's rules.

Comments are read twice: when the statement is bound, through a separate cursor, and within the
statement, as the caller sees them. They are used only if both agree.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from anon_sql.core.names import pieces, quote, split
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError


@dataclass(frozen=True)
class Scope:
    """The caller's current database and schema, and the search path for unqualified names."""

    database: str
    schema: str
    path: str

    def places(self) -> list[tuple[str, str]]:
        """Return the folded (database, schema) pairs of the search path in order, without temp."""
        places = []
        for entry in pieces(fold(self.path), ",") if self.path else []:
            *database, schema = split(entry)
            places.append((database[0] if database else fold(self.database), schema))
        return places or [(fold(self.database), fold(self.schema))]


class TablePlace(NamedTuple):
    """Where a table is, in folded names."""

    database: str
    schema: str
    table: str


@dataclass(frozen=True)
class Table:
    """A table in the catalog: names, SQL types and comments of its columns, in order."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    comments: tuple[str | None, ...]

    def tags(self) -> dict[str, str | None]:
        """Return the comment of each column by folded name."""
        return {fold(n): c for n, c in zip(self.names, self.comments, strict=True)}


def find(name: str, scope: Scope, columns: Iterable[Mapping[str, Any]]) -> Table | None:
    """Return the table that a relation's name refers to, or None.

    columns: columns in the catalog, mappings with ``database``, ``schema``, ``relation``, ``name``,
    ``type``, ``comment`` and ``at`` (position in the table). Raises AnonError for a name that
    DuckDB would resolve to another table than the one written.
    """
    by_table = _tables(columns)
    parts = split(name)
    place = next((place for place in _candidates(parts, scope) if place in by_table), None)
    if len(parts) == 2 and fold(parts[0]) == "main":
        # query_table prints the name again without "main", and so may read another schema.
        read_place = next(
            (place for place in _candidates(parts[1:], scope) if place in by_table), None
        )
        if read_place != place:
            raise AnonError(
                "anon_sql",
                "a name in schema main needs its database where another schema comes first",
                f"'{name}'",
                f"write {'.'.join(map(quote, (scope.database, *parts)))}",
            )
    return None if place is None else by_table[place]


def place_of(name: str, scope: Scope, columns: Iterable[Mapping[str, Any]]) -> TablePlace | None:
    """Return the place of the table that a relation's name refers to, or None."""
    by_table = _tables(columns)
    return next((place for place in _candidates(split(name), scope) if place in by_table), None)


def namesakes(name: str, columns: Iterable[Mapping[str, Any]]) -> list[Table]:
    """Return the tables of that name in any schema; none for a name with database and schema."""
    parts = split(name)
    by_place = _tables(columns).items() if len(parts) < 3 else []
    return [table for place, table in by_place if place.table == fold(parts[-1])]


def _tables(columns: Iterable[Mapping[str, Any]]) -> dict[TablePlace, Table]:
    """Return the tables by place."""
    by_place: dict[TablePlace, list[Mapping[str, Any]]] = {}
    for column in sorted(columns, key=lambda column: column["at"]):
        names = (column["database"], column["schema"], column["relation"])
        by_place.setdefault(TablePlace(*map(fold, names)), []).append(column)
    return {
        place: Table(
            tuple(c["name"] for c in listed),
            tuple(c["type"] for c in listed),
            tuple(c["comment"] for c in listed),
        )
        for place, listed in by_place.items()
    }


def _candidates(parts: Sequence[str], scope: Scope) -> list[TablePlace]:
    """Return the places in which DuckDB looks a name up, in order."""
    places, current = scope.places(), fold(scope.database)
    *qualifier, table = [fold(part) for part in parts]
    if not qualifier:
        return [
            TablePlace(*place, table) for place in [("temp", "main"), *places, (current, "main")]
        ]
    if len(qualifier) > 1:
        return [TablePlace(qualifier[0], qualifier[1], table)] if len(qualifier) == 2 else []
    name = qualifier[0]
    schemas = [schema for database, schema in places if database == name] or ["main"]
    databases = [database for database, schema in places if schema == name] or [current]
    if name == "main":
        databases = ["temp", *databases, current]
    return [
        *(TablePlace(name, schema, table) for schema in schemas),
        *(TablePlace(database, name, table) for database in databases),
    ]
