"""The manifest of linked tables: what it says of a release, its shape, and the schema in it."""

from collections.abc import Mapping
from typing import Any

import duckdb

from anon_sql.core.duckdb_internals.hashing import ROW_HASH
from anon_sql.core.names import quote
from anon_sql.core.parameters import Choice, parameters_of
from anon_sql.hosts.documents import (
    COUNT,
    NAMES,
    PLAIN,
    SHA256,
    SHARE,
    Each,
    Satisfying,
)
from anon_sql.linked.options import Linking
from anon_sql.linked.release import ReleasedTables
from anon_sql.linked.schema import Link, LinkedTable, Node, Schema
from anon_sql.version import VERSION

FORM = 1
MARK = "linked_manifest"
ENDINGS = (".parquet", ".csv")
_ROLES = {"quasi": "quasi", "sensitive": "sensitive", "keep": "keep", "identifiers": "identifier"}
_LINK = {"child": str, "columns": NAMES, "keys": NAMES}
_POSITIVE = Satisfying(lambda value: COUNT.holds(value) and value > 0)


def _choice(name: str) -> Satisfying:
    """Return the shape of a parameter that is one of several words."""
    accepts = parameters_of(Linking)[name].accepts
    assert isinstance(accepts, Choice)
    return Satisfying(accepts.words.__contains__)


_CHOICES = {name: _choice(name) for name in ("surplus", "orphans", "format", "effort")}
SHAPE: dict[str, Any] = {
    "root": str,
    "parameters": {
        "k": _POSITIVE,
        "l": _POSITIVE,
        "seed": COUNT,
        "hierarchy": (str, None),
        "key": (str, None),
        "bin_width": (Each((int, float)), None),
        **_CHOICES,
    },
    **dict.fromkeys(("persons", "classes", "smallest_class"), COUNT),
    "links": [{**_LINK, "parent": str, "role": ("quasi", "sensitive", "keep")}],
    "references": [{"table": PLAIN, "columns": NAMES, "links": [_LINK]}],
    "tables": Each(
        {
            "roles": dict.fromkeys(_ROLES, NAMES),
            "keys": NAMES,
            "columns": NAMES,
            **dict.fromkeys(("raw_rows", "rows", "unlinked", "left_out", "orphans"), COUNT),
            "gcp": (SHARE, None),
        },
        key=PLAIN,
    ),
    "output": {"files": Each(SHA256, key=PLAIN)},
}


def inconsistency(written: Mapping[str, Any]) -> str | None:
    """Return the part of a manifest of this shape that does not fit the others; None if all do.

    Each table but the root hangs on one above it by keys of that one, and has a file of its name.
    """
    references = {reference["table"] for reference in written["references"]}
    tables = written["tables"]
    if written["root"] not in tables:
        return "root"
    if references & set(tables) or len(references) != len(written["references"]):
        return "references"
    if not _is_tree(written):
        return "links"
    up = [link for reference in written["references"] for link in reference["links"]]
    table_names = {*tables, *references}
    if not all(
        link["child"] in table_names and 0 < len(link["columns"]) == len(link["keys"])
        for link in up
    ):
        return "references"
    return _of_columns(written) or _of_files(written, references)


def _is_tree(written: Mapping[str, Any]) -> bool:
    """Return whether each table but the root has a link, to one that is named before it."""
    tables, above = written["tables"], {written["root"]}
    for name in tables:
        links = [link for link in written["links"] if link["child"] == name]
        if name == written["root"]:
            if links:
                return False
        elif len(links) != 1 or not _fits(links[0], above, tables):
            return False
        above.add(name)
    return len(written["links"]) == len(tables) - 1


def _fits(link: Mapping[str, Any], above: set[str], tables: Mapping[str, Any]) -> bool:
    """Return whether a link names as many columns as keys of a table above."""
    return (
        link["parent"] in above
        and 0 < len(link["columns"]) == len(set(link["columns"])) == len(link["keys"])
        and set(link["keys"]) <= set(tables[link["parent"]]["keys"])
    )


def _of_columns(written: Mapping[str, Any]) -> str | None:
    """Return the table whose columns are not those that its roles, keys and links ask for."""
    columns = {
        name: dict.fromkeys(table["columns"], "") for name, table in written["tables"].items()
    }
    schema = schema_of(written, columns, None)
    for name, node in schema.nodes.items():
        table = written["tables"][name]
        named = [*(c for role in _ROLES for c in table["roles"][role]), *table["keys"]]
        added = [column for _, *pair in schema.added(node) for column in pair]
        linked = node.link.columns if node.link else ()
        expected = {*node.keys, *linked, *node.quasi, *node.kept, *added}
        once = len(set(named)) == len(named) and len(set(table["columns"])) == len(table["columns"])
        if not once or set(table["columns"]) != expected:
            return f"tables.{name}"
    return None


def _of_files(written: Mapping[str, Any], references: set[str]) -> str | None:
    """Return the part that names the files, unless there is one of each table, all of one kind."""
    named = list(written["output"]["files"])
    tables = {*written["tables"], *references}
    expected = [{f"{name}{ending}" for name in tables} for ending in ENDINGS]
    return None if set(named) in expected else "output.files"


def schema_of(
    written: Mapping[str, Any],
    columns: Mapping[str, Mapping[str, str]],
    types: Mapping[str, Mapping[str, str]] | None,
) -> Schema:
    """Return the schema that a manifest states.

    columns: of the released tables. types: SQL types of the raw tables' columns, None without them.
    """
    links = {
        link["child"]: Link(
            link["child"], tuple(link["columns"]), link["parent"], tuple(link["keys"])
        )
        for link in written["links"]
    }
    link_role = {link["child"]: link["role"] for link in written["links"]}
    nodes = {}
    for name, entry in written["tables"].items():
        roles: dict[str, str | None] = {}
        for parameter, role in _ROLES.items():
            roles |= dict.fromkeys(entry["roles"][parameter], role)
        roles |= dict.fromkeys(entry["keys"], "identifier")
        column_types = dict.fromkeys([*columns[name], *roles], "") if types is None else types[name]
        table = LinkedTable(
            name, quote(name), column_types, {**dict.fromkeys(column_types), **roles}
        )
        nodes[name] = Node(table, links.get(name), link_role.get(name), tuple(entry["keys"]))
    references = {
        reference["table"]: LinkedTable(reference["table"], quote(reference["table"]), {}, {})
        for reference in written["references"]
    }
    up = [
        Link(link["child"], tuple(link["columns"]), reference["table"], tuple(link["keys"]))
        for reference in written["references"]
        for link in reference["links"]
    ]
    return Schema(written["root"], nodes, references, up)


def described(
    schema: Schema, released: ReleasedTables, stated: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the manifest of a release: roles, links, parameters and counts, no value."""
    tables = {}
    for name, node in schema.nodes.items():
        count = released.counts[name]
        tables[name] = {
            "roles": {
                "quasi": node.quasi,
                "sensitive": node.sensitive,
                "keep": node.of_role("keep"),
                "identifiers": [
                    c for c in node.table.having("identifier") if c not in node.renewed
                ],
            },
            "keys": list(node.keys),
            "columns": released.tables[name].column_names,
            "raw_rows": count.raw,
            "rows": count.rows,
            "unlinked": count.unlinked,
            "left_out": count.left_out,
            "orphans": count.orphans,
            "gcp": count.gcp,
        }
    links = [
        {
            "child": node.name,
            "columns": list(node.link.columns),
            "parent": node.link.parent,
            "keys": list(node.link.keys),
            "role": node.role,
        }
        for node in schema.nodes.values()
        if node.link is not None
    ]
    return {
        MARK: FORM,
        "versions": {"anon_sql": VERSION, "duckdb": duckdb.__version__, "row_hash": ROW_HASH},
        "root": schema.root,
        "parameters": dict(stated),
        "persons": released.counts[schema.root].rows,
        "classes": released.classes,
        "smallest_class": released.smallest,
        "links": links,
        "references": [
            {
                "table": name,
                "columns": reference.having("keep"),
                "links": [
                    {"child": link.child, "columns": list(link.columns), "keys": list(link.keys)}
                    for link in schema.reference_links
                    if link.parent == name
                ],
            }
            for name, reference in schema.references.items()
        ],
        "tables": tables,
    }
