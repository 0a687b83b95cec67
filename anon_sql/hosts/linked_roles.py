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
    identifier. Reference tables are kept; other columns have the role of ``suggest_roles``, by
    person if people have several rows. Raises AnonError for links that no release can hold.
    """

    def ask(statement: str) -> list[tuple[Any, ...]]:
        return con.execute(statement).fetchall()

    catalog = Catalog(function, ask, Scope(*ask(SCOPE)[0]), files=True)
    top = catalog.add(root)
    out = {fold(name) for name in leave_out}
    all_links = [
        link
        for link in catalog.links(list(links), root)
        if not {fold(link.child), fold(link.parent)} & out
    ]
    declared = {
        (name, column["name"]): tag(column["comment"])
        for name, _, columns in catalog.tables.values()
        if fold(name) not in out
        for column in columns
    }
    types = {
        name: [column["name"] for column in columns] for name, _, columns in catalog.tables.values()
    }
    tree_links = [
        link
        for link in links_of(function, types, all_links)
        if link.child != link.parent
        and not any(declared[link.child, column] in UNLINKED for column in link.columns)
    ]
    below, _, references = tree(function, top, tree_links)
    link_of = {link.child: link for link in below.values() if link is not None}
    relations = {name: relation for name, relation, _ in catalog.tables.values()}
    roles: dict[str, list[str]] = {role: [] for role in ROLES}
    for name, relation, columns in catalog.tables.values():
        if name not in below and name not in references:
            continue
        role_of = _of_reference(columns) if name in references else _of_table(con, relation)
        if name in link_of:
            role_of |= _by_person(con, name, link_of, relations, role_of)
        if name in below:
            role_of |= _of_links(name, link_of, all_links)
        for column in columns:
            role = declared[name, column["name"]] or role_of[column["name"]]
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


def _by_person(
    con: duckdb.DuckDBPyConnection,
    name: str,
    link_of: Mapping[str, Link],
    relations: Mapping[str, str],
    roles: Mapping[str, str],
) -> dict[str, str]:
    """Return the roles that change if each value of a column counts once per person.

    A number that all rows of one person have is an identifier, and a value that few people have is
    known of them. own: the link of each table below the root; roles: those suggested by row.
    """
    joined, depth, below = f"{relations[name]} AS t0", 0, link_of[name]
    while True:
        pairs = zip(below.columns, below.keys, strict=True)
        on = " AND ".join(f"t{depth}.{quote(a)} = t{depth + 1}.{quote(b)}" for a, b in pairs)
        joined += f" JOIN {relations[below.parent]} AS t{depth + 1} ON {on}"
        depth += 1
        if below.parent not in link_of:
            break
        below = link_of[below.parent]
    person = ", ".join(f"t{depth}.{quote(key)} AS __{n}" for n, key in enumerate(below.keys))
    changed = {}
    for column, role in roles.items():
        if role in ("keep", "quasi"):
            once = f"SELECT DISTINCT {person}, t0.{quote(column)} FROM {joined}"
            suggested_role = _of_table(con, f"(SELECT {quote(column)} FROM ({once}))")[column]
            if suggested_role == "identifier" or (role, suggested_role) == ("keep", "quasi"):
                changed[column] = suggested_role
    return changed


def _of_links(name: str, link_of: Mapping[str, Link], all_links: Sequence[Link]) -> dict[str, str]:
    """Return the role of the columns of a table that are keys, or links of the tree."""
    roles = {column: "identifier" for link in all_links if link.child == name == link.parent
             for column in link.columns}  # fmt: skip
    roles |= {key: "identifier" for link in link_of.values() if link.parent == name
              for key in link.keys}  # fmt: skip
    if name in link_of:
        roles |= dict.fromkeys(link_of[name].columns, "quasi")
    return roles


def _written(name: str) -> str:
    """Return a name as a recipe writes it."""
    return name if name.isidentifier() and name.isascii() else quote(name)
