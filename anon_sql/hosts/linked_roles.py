"""Suggest the roles of tables that belong together: those of each table, its keys and its links."""

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb

from anon_sql.core.names import literal, quote
from anon_sql.core.roles import ROLES, fold, tag
from anon_sql.hosts.duckdb.linked_catalog import SCOPE, Catalog
from anon_sql.hosts.duckdb.relation import Scope
from anon_sql.linked.schema import UNLINKED, Link, links_of, tree

Columns = Sequence[Mapping[str, Any]]


def suggested(
    con: duckdb.DuckDBPyConnection,
    function: str,
    root: str,
    links: Sequence[str],
    leave_out: Sequence[str],
) -> dict[str, list[str]]:
    """Return the columns of each role, written as in a recipe.

    A comment that declares a role counts. Keys that links name are identifiers, and links are
    quasi-identifiers: others may know how many rows a person has. A link of a table to itself is an
    identifier. Reference tables are kept; other columns have the role of ``suggest_roles``. Raises
    AnonError for links that no release can hold.
    """

    def ask(statement: str) -> list[tuple[Any, ...]]:
        return con.execute(statement).fetchall()

    catalog = Catalog(function, ask, Scope(*ask(SCOPE)[0]), files=True)
    top = catalog.add(root)
    out = {fold(name) for name in leave_out}
    found = [
        link
        for link in catalog.links(list(links), root)
        if not {fold(link.child), fold(link.parent)} & out
    ]
    declared = {
        (name, column["name"]): tag(column["comment"])
        for name, _, columns in catalog.found.values()
        if fold(name) not in out
        for column in columns
    }
    types = {name: [each["name"] for each in own] for name, _, own in catalog.found.values()}
    held = [
        link
        for link in links_of(function, types, found)
        if link.child != link.parent
        and not any(declared[link.child, column] in UNLINKED for column in link.columns)
    ]
    below, _, references = tree(function, top, held)
    own = {link.child: link for link in below.values() if link is not None}
    roles: dict[str, list[str]] = {role: [] for role in ROLES}
    for name, relation, columns in catalog.found.values():
        if name not in below and name not in references:
            continue
        of = _of_reference(columns) if name in references else _of_table(con, relation)
        if name in below:
            of |= _of_links(name, own, found)
        for column in columns:
            role = declared[name, column["name"]] or of[column["name"]]
            roles[role].append(f"{_written(name)}.{_written(column['name'])}")
    return roles


def _of_reference(columns: Columns) -> dict[str, str]:
    return {column["name"]: "keep" for column in columns}


def _of_table(con: duckdb.DuckDBPyConnection, relation: str) -> dict[str, str]:
    con.execute(f"CREATE OR REPLACE TEMP VIEW __anon_suggested AS FROM {relation}")
    try:
        query = f"SELECT column_name, role FROM suggest_roles({literal('__anon_suggested')})"
        return dict(con.execute(query).fetchall())
    finally:
        con.execute("DROP VIEW __anon_suggested")


def _of_links(name: str, own: Mapping[str, Link], found: Sequence[Link]) -> dict[str, str]:
    """Return the role of the columns of a table that are keys, or links of the tree."""
    roles = {column: "identifier" for link in found if link.child == name == link.parent
             for column in link.columns}  # fmt: skip
    roles |= {key: "identifier" for link in own.values() if link.parent == name
              for key in link.keys}  # fmt: skip
    if name in own:
        roles |= dict.fromkeys(own[name].columns, "quasi")
    return roles


def _written(name: str) -> str:
    """Return a name as a recipe writes it."""
    return name if name.isidentifier() and name.isascii() else quote(name)
