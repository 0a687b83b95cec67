"""Read recipes of tables that belong together: a source with a root, links, roles, parameters.

They are of the same form as recipes of a single table, and name columns with their tables.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from anon_sql.core.names import split
from anon_sql.core.pseudonyms import named_key
from anon_sql.core.roles import PARAMETER, REST, ROLES, fold
from anon_sql.errors import AnonError, listed
from anon_sql.hosts import recipes
from anon_sql.hosts.documents import require_known, require_typed
from anon_sql.hosts.files import digest
from anon_sql.hosts.statements import statement_of
from anon_sql.linked.options import Linking
from anon_sql.linked.schema import Schema

_SOURCE: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("database", "folder", "root", "schema_sha256", "sha256"), str),
    **dict.fromkeys(("links", "leave_out"), list),
}
_RELEASE = ("k", *(each.name for each in fields(Linking)), "weights", "bin_width", "format_files")


@dataclass(frozen=True)
class LinkedRecipe:
    """A recipe of tables that belong together, read from ``path``.

    source: database or folder, root, links and leave_out. parameters: of the release. roles: the
    columns by parameter (``PARAMETER``). hierarchies: a path by column. stricter: limits of the
    verdict.
    """

    path: Path
    source: Mapping[str, Any]
    parameters: Mapping[str, Any]
    roles: Mapping[str, list[str]]
    hierarchies: Mapping[str, Path] = field(default_factory=dict)
    statement: Mapping[str, Any] = field(default_factory=dict)
    accepted: Mapping[str, str] = field(default_factory=dict)
    stricter: Mapping[str, Any] = field(default_factory=dict)

    @property
    def environment(self) -> str:
        """Return for whom the release is, one of ``statements.ENVIRONMENTS``."""
        return str(self.statement.get("environment", "contract"))

    @property
    def place(self) -> Path:
        """Return the path of the database, or of the folder."""
        return self.path.parent / str(self.source.get("database") or self.source["folder"])

    @property
    def root(self) -> str:
        """Return the table of people."""
        return str(self.source["root"])

    @property
    def sha256(self) -> str:
        """Return the hash of the recipe."""
        return digest(self.path)


def is_linked(function: str, path: Path) -> bool:
    """Return whether a recipe has a root. Raises AnonError of ``function`` for no recipe."""
    source = recipes.tables(function, path).get("source")
    return isinstance(source, dict) and "root" in source


def read_linked_recipe(function: str, path: Path) -> LinkedRecipe:
    """Return the recipe in a file. Raises AnonError of ``function`` for anything else."""
    entries = recipes.sections(function, recipes.tables(function, path))
    if entries["series"]:
        rule = "[series] does not apply to tables that belong together"
        raise AnonError(function, rule, "entries", "leave it out")
    require_known(function, "[release]", entries["release"], _RELEASE)
    named_key(function, "key in [release]", entries["release"].get("key"), recipes.NO_SECRET)
    trees = recipes.trees_of(function, path.absolute().parent, entries["hierarchies"])
    return LinkedRecipe(
        path.absolute(),
        _source(function, entries["source"]),
        entries["release"],
        _roles(function, entries["roles"]),
        trees,
        statement_of(function, entries["statement"]),
        recipes.accepted_of(function, entries["accepted"]),
        entries["stricter"],
    )


def _source(function: str, section: Mapping[str, Any]) -> dict[str, Any]:
    require_typed(function, "[source]", section, _SOURCE)
    if ("database" in section) == ("folder" in section) or not section.get("root"):
        rule = "[source] must have a root, and a database or a folder"
        raise AnonError(function, rule, "another source")
    if "folder" in section and "sha256" in section:
        raise AnonError(function, "sha256 in [source] must be that of a database", "a folder")
    name = "database" if "database" in section else "folder"
    recipes.relative(function, name, section[name])
    return dict(section)


def _roles(function: str, section: Mapping[str, Any]) -> dict[str, list[str]]:
    kinds: dict[str, type | tuple[type, ...]] = {"confirmed": bool, **dict.fromkeys(ROLES, list)}
    require_typed(function, "[roles]", section, kinds)
    if not section.get("confirmed", False):
        rule = "[roles] of tables that belong together must be confirmed"
        raise AnonError(function, rule, "confirmed = false", "read them, then write true")
    for role in ROLES:
        if any(split(name)[-1] == REST for name in section.get(role, [])):
            rule = "[roles] must name every column"
            raise AnonError(function, rule, f"* in {role}", "write the names out")
    return by_parameter(section)


def by_parameter(roles: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return columns by role as parameters call them."""
    return {PARAMETER[role]: list(roles.get(role, [])) for role in ROLES}


def require_source(function: str, recipe: LinkedRecipe) -> None:
    """Raise AnonError unless the source exists and has the content that the recipe states."""
    if not recipe.place.exists():
        rule = "the source of the recipe must exist"
        raise AnonError(function, rule, f"no '{recipe.place.name}' beside it")
    recipes.require_digest(function, recipe.place, recipe.source.get("sha256"))


def require_named(function: str, recipe: LinkedRecipe, schema: Schema) -> None:
    """Raise AnonError unless the recipe names every column of the linked tables, in its schema.

    Comments may only repeat what it says, or leave a column out by ``drop``.
    """
    named = {
        tuple(map(fold, split(name)[-2:])) for names in recipe.roles.values() for name in names
    }
    tables = [*(node.table for node in schema.nodes.values()), *schema.references.values()]
    new = [
        f"{table.name}.{column}"
        for table in tables
        for column in table.types
        if table.roles[column] != "exclude" and (fold(table.name), fold(column)) not in named
    ]
    if new:
        rule = "every column of the source must have a role in the recipe"
        raise AnonError(function, rule, f"no role for {listed(new)}")
    if recipe.source.get("schema_sha256", schema_sha256(schema)) != schema_sha256(schema):
        rule = "the source must have the schema that the recipe was written for"
        got = "columns of other types or in another order, or other links"
        hint = "anon-sql roles SOURCE --root TABLE --recipe PATH writes a recipe for this one"
        raise AnonError(function, rule, got, hint)


def schema_sha256(schema: Schema) -> str:
    """Return the hash of the tables, of the names and SQL types of their columns, and of links."""
    tables = [*(node.table for node in schema.nodes.values()), *schema.references.values()]
    tree_links = [node.link for node in schema.nodes.values() if node.link]
    content = [
        sorted([table.name, [[*pair] for pair in table.types.items()]] for table in tables),
        sorted(str(link) for link in (*tree_links, *schema.reference_links)),
    ]
    text = json.dumps(content, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
