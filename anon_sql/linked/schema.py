"""Order linked tables as a tree below the table of people, and refuse links that do not fit.

A link is a foreign key. The role of its columns is the role of the number of rows per parent.
Tables that the tree links to, but that are not below the persons, are reference tables.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from anon_sql.core.names import pieces, split
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, Argument, Parameter, did_you_mean, listed

UNLINKED = "identifier", "exclude"  # roles of links that are not released
ROWS, WEIGHT = "_rows", "_weight"  # columns of a parent, after the name of a child table


@dataclass(frozen=True)
class Link:
    """A foreign key: columns of a child table that name a row of its parent by ``keys``."""

    child: str
    columns: tuple[str, ...]
    parent: str
    keys: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.child}.{_columns(self.columns)} -> {self.parent}.{_columns(self.keys)}"


def _columns(names: Sequence[str]) -> str:
    return listed(names) if len(names) == 1 else f"({listed(names)})"


@dataclass(frozen=True)
class LinkedTable:
    """A table, as a host describes it.

    name: short, unique and that of its release. relation: the table as SQL. types: SQL type by
    column. roles: the role of each column, None for none.
    """

    name: str
    relation: str
    types: Mapping[str, str]
    roles: Mapping[str, str | None]

    def having(self, role: str | None) -> list[str]:
        """Return the columns of a role in the order of the table."""
        return [name for name in self.types if self.roles.get(name) == role]


@dataclass(frozen=True)
class Node:
    """A table of the tree.

    link: to its parent, None for the root. role: of the link. keys: the columns by which children
    name its rows. quasi, sensitive, kept: columns of these roles that are neither keys nor links.
    """

    table: LinkedTable
    link: Link | None = None
    role: str | None = None
    keys: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.table.name

    @cached_property
    def renewed(self) -> list[str]:
        """The columns that are released as new keys, in the order of the table."""
        key_columns = {*self.keys, *(self.link.columns if self.link else ())}
        return [name for name in self.table.types if name in key_columns]

    def of_role(self, *roles: str) -> list[str]:
        """Return the columns of some roles that are neither key nor link."""
        return [
            name
            for name in self.table.types
            if name not in self.renewed and self.table.roles[name] in roles
        ]

    @property
    def quasi(self) -> list[str]:
        return self.of_role("quasi")

    @property
    def sensitive(self) -> list[str]:
        return self.of_role("sensitive")

    @property
    def kept(self) -> list[str]:
        return self.of_role("sensitive", "keep")


class AddedColumns(NamedTuple):
    """The columns that a release adds to a parent for a child table: the number of released rows,
    and their weight."""

    child: Node
    rows: str
    weight: str


@dataclass(frozen=True)
class Schema:
    """The tables of a call: those of the tree, parents first, and reference tables.

    reference_links: from any table to a reference table.
    """

    root: str
    nodes: Mapping[str, Node]
    references: Mapping[str, LinkedTable] = field(default_factory=dict)
    reference_links: Sequence[Link] = ()

    @property
    def tables(self) -> list[LinkedTable]:
        """Return the tables of the tree, and then reference tables."""
        return [*(node.table for node in self.nodes.values()), *self.references.values()]

    def children(self, name: str, *roles: str) -> list[Node]:
        """Return the tables directly below one, those whose links have some roles, or all."""
        return [
            node
            for node in self.nodes.values()
            if node.link and node.link.parent == name and (not roles or node.role in roles)
        ]

    def parent(self, node: Node) -> Node:
        """Return the table above another."""
        assert node.link is not None
        return self.nodes[node.link.parent]

    def is_countable(self, name: str) -> bool:
        """Return whether attackers may know each person's number of rows in a table."""
        node = self.nodes[name]
        while node.link is not None:
            if node.role != "quasi":
                return False
            node = self.nodes[node.link.parent]
        return True

    def added(self, node: Node) -> list[AddedColumns]:
        """Return the countable children, and the columns that a release adds for each."""
        return [
            AddedColumns(child, child.name + ROWS, child.name + WEIGHT)
            for child in self.children(node.name, "quasi")
        ]

    def source_of(self, node: Node, column: str) -> str:
        """Return the table whose new keys a column of keys or of a link shows."""
        while node.link is not None and column in node.link.columns:
            column = node.link.keys[node.link.columns.index(column)]
            node = self.nodes[node.link.parent]
        return node.name


def read_links(function: str, texts: object, names: Mapping[str, str]) -> list[Link]:
    """Return the links that a call writes as 'visit.person_id -> person.person_id'.

    names: the short name of each table by its folded name as written and in full. Raises AnonError
    for other texts.
    """
    if texts is None:
        return []
    listed_texts = [texts] if isinstance(texts, str) else texts
    rule = Parameter("links") + " must be texts like 'visit.person_id -> person.person_id'"
    if not isinstance(listed_texts, (list, tuple)):
        raise AnonError(function, rule, type(texts).__name__)
    links = []
    for text in listed_texts:
        sides = text.split("->") if isinstance(text, str) else []
        if len(sides) != 2:
            raise AnonError(function, rule, "another text")
        (child, columns), (parent, keys) = (side_of(function, side) for side in sides)
        if len(columns) != len(keys):
            raise AnonError(
                function,
                "a link needs as many columns as its key",
                f"{len(columns)} and {len(keys)}",
            )
        links.append(
            Link(
                _table_name(function, child, names),
                columns,
                _table_name(function, parent, names),
                keys,
            )
        )
    return links


def side_of(function: str, side: str) -> tuple[str, tuple[str, ...]]:
    """Return the relation and the columns of one side of a link: ``visit.id``, ``visit.(a, b)``."""
    side = side.strip()
    if side.endswith(")") and ".(" in side:
        relation, _, inner = side[:-1].rpartition(".(")
        columns = [split(column.strip())[0] for column in pieces(inner, ",")]
    else:
        *before, last = pieces(side, ".")
        relation, columns = ".".join(before), split(last)
    if not relation or not all(columns):
        rule = Parameter("links") + " must name tables with their columns"
        raise AnonError(function, rule, "a side without them", "write 'visit.person_id'")
    return relation.strip(), tuple(columns)


def _table_name(function: str, written: str, names: Mapping[str, str]) -> str:
    name = names.get(fold(written))
    if name is None:
        rule = Parameter("links") + " must name tables that can be read"
        raise AnonError(function, rule, listed([written]), did_you_mean(written, names.values()))
    return name


def arrange(
    function: str,
    root: str,
    tables: Mapping[str, LinkedTable],
    links: Sequence[Link],
    leave_out: Sequence[str] = (),
) -> Schema:
    """Return the schema of a call.

    root: the table of persons. tables: by name, the linked ones and no others. leave_out: linked
    tables that are not released. Raises AnonError, in one sentence with names alone, for links that
    no release can hold.
    """
    left_out = set(_left_out(function, root, tables, leave_out))
    links = links_of(function, {name: table.types for name, table in tables.items()}, links)
    kept = [link for link in links if not {link.child, link.parent} & left_out]
    for link in kept:
        _require_types(function, tables, link)
    released_links = [link for link in kept if _role(function, tables, link, root) not in UNLINKED]
    for link in released_links:
        if link.child == link.parent:
            raise _circle(function, [link])
    below, up, references = tree(function, root, released_links)
    _require_lookups(function, tables, below, references, up)
    others = sorted({name for link in links for name in (link.child, link.parent)})
    others = [name for name in others if name not in {*below, *references, *left_out}]
    if others:
        raise AnonError(
            function,
            "every linked table must be released or left out",
            listed(others) + (" that is neither" if len(others) == 1 else " that are neither"),
            "pass " + Argument("leave_out", others),
        )
    nodes = {}
    for name, to_parent in below.items():
        keys = dict.fromkeys(
            key for link in below.values() if link and link.parent == name for key in link.keys
        )
        role = None if to_parent is None else _role(function, tables, to_parent, root)
        nodes[name] = Node(tables[name], to_parent, role, tuple(keys))
    schema = Schema(root, nodes, {name: tables[name] for name in references}, up)
    _require_roles(function, schema)
    _require_known(function, schema)
    _require_free(function, schema)
    return schema


class Tree(NamedTuple):
    """The linked tables of a call.

    below: the tables of the tree, parents first, each with the link to its parent. up: the links to
    reference tables. references: the reference tables.
    """

    below: dict[str, Link | None]
    up: list[Link]
    references: list[str]


def tree(function: str, root: str, links: Sequence[Link]) -> Tree:
    """Return the tables of the tree below the root, and the reference tables."""
    below = _below(function, root, links)
    return Tree(below, *_references(below, links))


def links_of(
    function: str, columns: Mapping[str, Iterable[str]], links: Sequence[Link]
) -> list[Link]:
    """Return each link once, with its columns spelled as in their tables; columns: by table."""
    return list(dict.fromkeys(_spelled(function, columns, link) for link in links))


def _left_out(
    function: str, root: str, tables: Mapping[str, LinkedTable], names: Sequence[str]
) -> Iterator[str]:
    names_by_folded = {fold(name): name for name in tables}
    for name in [names] if isinstance(names, str) else names:
        name_of_table = names_by_folded.get(fold(str(name)))
        if name_of_table is None or name_of_table == root:
            rule = Parameter("leave_out") + " must name linked tables other than the root"
            raise AnonError(
                function, rule, f"'{name}'", did_you_mean(str(name), names_by_folded.values())
            )
        yield name_of_table


def _spelled(function: str, columns: Mapping[str, Iterable[str]], link: Link) -> Link:
    """Return a link with its columns spelled as in their tables."""

    def of(table: str, names: Sequence[str]) -> tuple[str, ...]:
        spellings = {fold(name): name for name in columns[table]}
        for name in names:
            if fold(name) not in spellings:
                hint = did_you_mean(name, spellings.values())
                got = f"{table}.{listed([name])}"
                raise AnonError(function, "a link must name columns of its tables", got, hint)
        return tuple(spellings[fold(name)] for name in names)

    return replace(link, columns=of(link.child, link.columns), keys=of(link.parent, link.keys))


def _require_types(function: str, tables: Mapping[str, LinkedTable], link: Link) -> None:
    for column, key in zip(link.columns, link.keys, strict=True):
        column_type, key_type = tables[link.child].types[column], tables[link.parent].types[key]
        if column_type != key_type:
            raise AnonError(
                function,
                "a link must have the type of its key",
                f"{column_type} and {key_type} in {link}",
                "cast one of them in a view",
            )


def _role(function: str, tables: Mapping[str, LinkedTable], link: Link, root: str) -> str | None:
    """Return the role of a link. Raises AnonError if its columns have several."""
    roles = tables[link.child].roles
    roles_of_columns = {roles.get(column) for column in link.columns}
    if len(roles_of_columns) > 1 and None not in roles_of_columns:
        names = " and ".join(sorted(str(role) for role in roles_of_columns))
        raise AnonError(function, "the columns of a link have one role", f"{names} in {link}")
    return next(iter(roles_of_columns)) if len(roles_of_columns) == 1 else None


def _circle(function: str, links: Sequence[Link]) -> AnonError:
    return AnonError(
        function,
        "links must not lead back to their table",
        "; ".join(str(link) for link in links),
        "give one of these columns the role identifier, and its link is not released",
    )


def _below(function: str, root: str, links: Sequence[Link]) -> dict[str, Link | None]:
    """Return the tables of the tree, parents first, with the link of each to its parent."""
    link_of: dict[str, Link | None] = {root: None}
    reached = [root]
    while reached:
        name = reached.pop(0)
        for link in links:
            if link.parent == name and link.child not in link_of:
                link_of[link.child] = link
                reached.append(link.child)
    for link in links:
        tree_link = link_of.get(link.child)
        if link.child not in link_of or link.parent not in link_of or link == tree_link:
            continue
        if link.child == root or _is_above(link_of, link.child, link.parent):
            raise _circle(function, [link])
        raise AnonError(
            function,
            f"a table must lead to {root} in one way",
            f"two from {link.child}: {tree_link} and {link}",
            "give one of these columns the role identifier, or choose another root",
        )
    return link_of


def _is_above(link_of: Mapping[str, Link | None], above: str, name: str) -> bool:
    link = link_of[name]
    while link is not None:
        if link.parent == above:
            return True
        link = link_of[link.parent]
    return False


def _references(
    below: Mapping[str, Link | None], links: Sequence[Link]
) -> tuple[list[Link], list[str]]:
    """Return the links to reference tables, and these tables."""
    tables: list[str] = []
    up: list[Link] = []
    reached = list(below)
    while reached:
        name = reached.pop(0)
        for link in links:
            if link.child == name and link.parent not in below:
                up.append(link)
                if link.parent not in tables:
                    tables.append(link.parent)
                    reached.append(link.parent)
    return up, tables


def _require_lookups(
    function: str,
    tables: Mapping[str, LinkedTable],
    below: Mapping[str, Link | None],
    references: Sequence[str],
    up: Sequence[Link],
) -> None:
    """Raise AnonError for a reference table with columns of persons."""
    for name in references:
        for role in ("identifier", "quasi", "sensitive"):
            columns = tables[name].having(role)
            if columns:
                link = next(link for link in up if link.parent == name)
                raise AnonError(
                    function,
                    "a table that is linked to, but not below the root, must hold no persons",
                    f"{name} with {role} {listed(columns)}, named by {link}",
                    "give the link's columns the role identifier, choose another root, or leave "
                    "the table out",
                )


def _require_roles(function: str, schema: Schema) -> None:
    """Raise AnonError that lists columns, keys and links without a role."""
    none = [f"{table.name}.{name}" for table in schema.tables for name in table.having(None)]
    if none:
        raise AnonError(
            function,
            "every column, key and link needs a role",
            f"no role for {_dotted(none)}",
            "declare it (COMMENT ON COLUMN t.name IS 'anon:keep'), or name it in "
            + Argument("keep", none[:1]),
        )
    for node in schema.nodes.values():
        links = node.link.columns if node.link else ()
        wrong = [
            f"{node.name}.{key}"
            for key in node.keys
            if key not in links and node.table.roles[key] != "identifier"
        ]
        if wrong:
            raise AnonError(
                function,
                "a key that links name must be declared identifier, and is released as new keys",
                f"another role of {_dotted(wrong)}",
            )


def _dotted(names: Sequence[str]) -> str:
    """Return names with their tables, those that look like values only counted."""
    return listed([name.replace(".", " . ") for name in names]).replace(" . ", ".")


def _require_known(function: str, schema: Schema) -> None:
    """Raise AnonError for quasi-identifiers below a link that is not one."""
    wrong = [
        f"{node.name}.{name}"
        for node in schema.nodes.values()
        if not schema.is_countable(node.name)
        for name in (
            *node.quasi,
            *(node.link.columns if node.link and node.role == "quasi" else ()),
        )
    ]
    if wrong:
        raise AnonError(
            function,
            "quasi-identifiers must be below links that are quasi-identifiers, because labels that "
            "differ in number tell persons apart",
            f"{_dotted(wrong)} below another link",
        )


def _require_free(function: str, schema: Schema) -> None:
    """Raise AnonError for names that a release adds."""
    for node in schema.nodes.values():
        taken = {fold(name): name for name in node.table.types}
        for _, *added in schema.added(node):
            for name in added:
                if fold(name) in taken:
                    got = f"{node.name}.{taken[fold(name)]}"
                    rule = "a table must not have a column that the release adds"
                    raise AnonError(function, rule, got, "rename it")
