"""Hold a source against what its recipe says of it: that it exists, its content and its schema."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from anon_sql.core.names import quote
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, Option, Words, listed
from anon_sql.hosts.contents import kind_of
from anon_sql.hosts.files import digest, is_pattern, members
from anon_sql.hosts.recipes import READING, Recipe, column_of
from anon_sql.linked.schema import Schema

_OTHER_TYPES = "columns of other types or in another order"


def schema_sha256(types: Mapping[str, str]) -> str:
    """Return the hash of the names and SQL types of columns, in their order."""
    return _hash([[*pair] for pair in types.items()])


def linked_schema_sha256(schema: Schema) -> str:
    """Return the hash of the tables, of the names and SQL types of their columns, and of links."""
    tree_links = [node.link for node in schema.nodes.values() if node.link]
    return _hash(
        [
            sorted([t.name, [[*pair] for pair in t.types.items()]] for t in schema.tables),
            sorted(str(link) for link in (*tree_links, *schema.reference_links)),
        ]
    )


def _hash(content: Sequence[Any]) -> str:
    text = json.dumps(content, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def require_schema(function: str, recipe: Recipe, types: Mapping[str, str]) -> None:
    """Raise AnonError unless a table has the columns of the recipe, each with a role."""
    columns = [name for names in recipe.roles.values() for name in names]
    named, present = {fold(name) for name in columns}, {fold(name) for name in types}
    if gone := [name for name in columns if fold(name) not in present]:
        rule = "the source must have every column of the recipe"
        raise AnonError(function, rule, f"no column called {listed(gone)}")
    _require_roles(function, [name for name in types if fold(name) not in named])
    by = Option("anon-sql roles FILE --recipe PATH", verb="")
    _require_hash(function, recipe, schema_sha256(types), _OTHER_TYPES, by)


def require_linked_schema(function: str, recipe: Recipe, schema: Schema) -> None:
    """Raise AnonError unless the recipe names every column of the linked tables, in its schema.

    Comments may only repeat what it says, or leave a column out by ``exclude``.
    """
    named = {column_of(name) for names in recipe.roles.values() for name in names}
    new = [
        f"{table.name}.{column}"
        for table in schema.tables
        for column in table.types
        if table.roles[column] != "exclude" and (fold(table.name), fold(column)) not in named
    ]
    _require_roles(function, new)
    by = "anon-sql roles SOURCE --root TABLE --recipe PATH"
    others = f"{_OTHER_TYPES}, or other links"
    _require_hash(function, recipe, linked_schema_sha256(schema), others, by)


def _require_roles(function: str, new: Sequence[str]) -> None:
    """Raise AnonError for columns without a role."""
    if new:
        rule = "every column of the source must have a role in the recipe"
        raise AnonError(function, rule, f"no role for {listed(new)}")


def _require_hash(function: str, recipe: Recipe, sha256: str, got: str, by: str | Words) -> None:
    """Raise AnonError for another schema than the recipe states, if it states one."""
    if recipe.source.get("schema_sha256", sha256) != sha256:
        rule = "the source must have the schema that the recipe was written for"
        raise AnonError(function, rule, got, by + " writes a recipe for this one")


def require_content(function: str, recipe: Recipe) -> None:
    """Raise AnonError unless the source exists and has the content that the recipe states."""
    if not any(file.exists() for file in members(recipe.file)):
        rule = "the source of the recipe must exist"
        raise AnonError(function, rule, f"no '{recipe.file.name}' beside it")
    stated = recipe.source.get("sha256")
    if stated is not None and _digest(str(recipe.file), _stamp(recipe.file)) != stated:
        raise AnonError(
            function,
            "the source must have the sha256 that the recipe states",
            "other content",
            "remove the line sha256 if new content is what you want to release",
        )


class _Stamp(NamedTuple):
    """A file: its name, the time of its last change in nanoseconds, and its size in bytes."""

    name: str
    changed: int
    size: int


def _stamp(path: Path) -> tuple[_Stamp, ...]:
    """Return what changes with the content of a file, or of those that a pattern fits."""
    states = [(file.name, file.stat()) for file in members(path)]
    return tuple(_Stamp(name, state.st_mtime_ns, state.st_size) for name, state in states)


@lru_cache(maxsize=16)
def _digest(path: str, stamp: tuple[_Stamp, ...]) -> str:
    return digest(Path(path))


def relation(recipe: Recipe) -> str:
    """Return the source as a relation of DuckDB: a file, or a table of an attached database.

    Raises AnonError for a source that is to be read in a way of which DuckDB knows nothing.
    """
    if stated := [name for name in READING if name in recipe.source]:
        rule = "[source] must not say how the file is read for DuckDB to read it"
        hint = "anon-sql release RECIPE OUT, and anon_sql.recipe in Python, read it so"
        raise AnonError("recipe", rule, listed(stated), hint)
    if recipe.table is None:
        if is_pattern(recipe.file):
            rule = "the source must be one file for DuckDB to read it"
            hint = "anon-sql release RECIPE OUT reads all that a pattern fits"
            raise AnonError("recipe", rule, "a pattern of files", hint)
        if kind_of(recipe.file) is None and not recipe.file.is_dir():
            rule = "the source must be a CSV or Parquet file, or a table, for DuckDB to read it"
            hint = "anon-sql release RECIPE OUT, and anon_sql.recipe in Python, read it"
            raise AnonError("recipe", rule, "a file of another format", hint)
        return str(recipe.file)
    return f"{quote(recipe.file.stem)}.{recipe.table}"
