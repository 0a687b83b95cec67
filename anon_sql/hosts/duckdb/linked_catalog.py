"""Read linked tables from the catalog: foreign keys, given links, and the roles of columns."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from pathlib import PurePath
from typing import Any, NamedTuple

import duckdb

from anon_sql import system
from anon_sql.core.bin_width import read_bin_widths
from anon_sql.core.names import literal, pieces, quote, split
from anon_sql.core.roles import PARAMETER, REST, ROLES, UNCHANGED, fold, overriding, tag
from anon_sql.errors import AnonError, Parameter, Words, did_you_mean, listed
from anon_sql.hosts.duckdb.binding import require_names
from anon_sql.hosts.duckdb.relation import Scope, place_of
from anon_sql.linked.schema import Link, LinkedTable, Schema, arrange, read_links, side_of
from anon_sql.suggest.identifiers import refuse_identifiers

Ask = Callable[[str], list[tuple[Any, ...]]]
Place = tuple[str, str, str]
COLUMNS = (
    "SELECT database_name, schema_name, table_name, column_name, data_type, comment, column_index "
    "FROM system.main.duckdb_columns() WHERE NOT internal"
)
FOREIGN = (
    "SELECT database_name, schema_name, table_name, constraint_column_names, referenced_table, "
    "referenced_column_names FROM system.main.duckdb_constraints() "
    "WHERE constraint_type = 'FOREIGN KEY'"
)
_KEYS = ("database", "schema", "relation", "name", "type", "comment", "at")
SCOPE = "SELECT current_database(), current_schema(), current_setting('search_path')"


class CatalogTable(NamedTuple):
    """A linked table: its short name, its SQL, and its columns as in the catalog."""

    name: str
    relation: str
    columns: list[dict[str, Any]]


class ColumnSetting(NamedTuple):
    """The value that a parameter gives a quasi-identifier.

    name: as the call writes it. column: table and column, as in the schema.
    """

    name: str
    column: tuple[str, str]
    value: Any


class Catalog:
    """The tables of a database as one transaction sees them.

    ask: returns the rows of a query. files: whether relations that the catalog lacks may be
    described by a query.
    """

    def __init__(self, function: str, ask: Ask, scope: Scope, *, files: bool):
        self.function, self.ask, self.scope, self.files = function, ask, scope, files
        self.columns = [dict(zip(_KEYS, row, strict=True)) for row in ask(COLUMNS)]
        self.by_place: dict[Place, list[dict[str, Any]]] = {}
        for column in sorted(self.columns, key=lambda entry: entry["at"]):
            place = (column["database"], column["schema"], column["relation"])
            self.by_place.setdefault(place, []).append(column)
        self.tables: dict[str, CatalogTable] = {}

    def place(self, name: str) -> Place | None:
        """Return where a relation is, spelled as in the catalog; None for a file."""
        folded = place_of(name, self.scope, self.columns)
        for place in self.by_place:
            if folded == tuple(map(fold, place)):
                return place
        return None

    def add(self, name: str) -> str:
        """Note a relation, and return its short name."""
        place = self.place(name)
        if place is not None:
            return self._note(place[2], ".".join(map(quote, place)), self.by_place[place])
        if not self.files:
            table_names = sorted({table for _, _, table in self.by_place})
            rule = "the relation must be a table or view in the catalog"
            raise AnonError(self.function, rule, listed([name]), did_you_mean(name, table_names))
        try:
            relation = f"query_table({literal(name)})"
            described = self.ask(f"DESCRIBE FROM {relation}")
        except duckdb.Error:
            table_names = sorted({table for _, _, table in self.by_place})
            rule = "every linked table must be a committed table or view, or a file"
            hint = did_you_mean(name, table_names) if table_names else None
            raise AnonError(self.function, rule, f"'{name}'", hint) from None
        columns = [{"name": row[0], "type": row[1], "comment": None} for row in described]
        short = (
            PurePath(name).name.partition(".")[0]
            if system.has_folder(name) or "." in name
            else name
        )
        return self._note(short, relation, columns)

    def _note(self, short: str, relation: str, columns: list[dict[str, Any]]) -> str:
        table = self.tables.setdefault(fold(short), CatalogTable(short, relation, columns))
        if table.relation != relation:
            rule = "linked tables must have different names"
            raise AnonError(self.function, rule, f"two of the name {listed([short])}")
        require_names(self.function, [column["name"] for column in columns])
        return table.name

    def links(self, call_links: object, root: str) -> list[Link]:
        """Return the foreign keys around the root, and the links that a call gives."""
        written = [call_links] if isinstance(call_links, str) else call_links or []
        names: dict[str, str] = {}
        if isinstance(written, (list, tuple)):
            for text in written:
                sides = text.split("->") if isinstance(text, str) else []
                for side in sides if len(sides) == 2 else ():
                    relation, _ = side_of(self.function, side)
                    names[fold(relation)] = self.add(relation)
        links = read_links(self.function, call_links, names)
        places = {place for place in map(self.place, [root, *names]) if place}
        foreign = [
            ((database, schema, child), tuple(columns), (database, schema, parent), tuple(keys))
            for database, schema, child, columns, parent, keys in self.ask(FOREIGN)
        ]
        reached = True
        while reached:  # everything that foreign keys tie to what is known
            reached = False
            for child, _, parent, _ in foreign:
                if (child in places) != (parent in places):
                    places |= {child, parent}
                    reached = True
        for child, columns, parent, keys in foreign:
            if child in places:
                ends = [self.add(".".join(map(quote, place))) for place in (child, parent)]
                links.append(Link(ends[0], columns, ends[1], keys))
        return links


def read_schema(
    catalog: Catalog,
    root: str,
    *,
    links: object = None,
    leave_out: object = None,
    roles: Mapping[str, object],
    releases: bool = False,
) -> Schema:
    """Return the tables linked with a root, in the catalog or by given links.

    roles: the parameters quasi, sensitive, identifiers and keep, columns written 'visit.ward'.
    releases: whether the tables are released. Raises AnonError for what ``arrange`` refuses, and
    for a ``*`` that would release identifiers.
    """
    function = catalog.function
    if not isinstance(root, str) or not root:
        raise AnonError(function, Parameter("root") + " must be the name of a table")
    top = catalog.add(root)
    all_links = catalog.links(links, root)
    left = _listed(leave_out)
    names = {fold(str(name)) for name in left}
    tables = {}
    call_roles = _call_roles(function, roles)
    for short, relation, columns in catalog.tables.values():
        types = {column["name"]: column["type"] for column in columns}
        assigned = {} if fold(short) in names else _roles(function, short, columns, call_roles)
        tables[short] = LinkedTable(short, relation, types, assigned)
    _require_used(function, call_roles, tables)
    schema = arrange(function, top, tables, all_links, left)
    if releases:
        _refuse_identifiers(catalog, schema, call_roles)
    return schema


def _refuse_identifiers(
    catalog: Catalog, schema: Schema, call_roles: Mapping[tuple[str, str], str]
) -> None:
    """Raise AnonError if a ``*`` would release columns that are suggested as identifiers.

    Reference tables hold no people, and are not looked at.
    """
    reasons: dict[str, dict[str, str]] = {PARAMETER[role]: {} for role in UNCHANGED}
    for node in schema.nodes.values():
        role = call_roles.get((fold(node.name), REST)) or call_roles.get((REST, REST))
        columns = catalog.tables[fold(node.name)].columns
        rest = [
            column["name"]
            for column in columns
            if tag(column["comment"]) is None
            and (fold(node.name), fold(column["name"])) not in call_roles
        ]
        if role not in UNCHANGED or not rest:
            continue
        rest_query = f"SELECT {', '.join(map(quote, rest))} FROM {node.table.relation}"
        for name, reason in catalog.ask(
            f"WITH __anon_rest AS ({rest_query}) SELECT column_name, reason "
            "FROM suggest_roles('__anon_rest') WHERE role = 'identifier'"
        ):
            reasons[PARAMETER[role]][f"{node.name}.{name}"] = reason
    for parameter, identifiers in reasons.items():
        refuse_identifiers(catalog.function, parameter, identifiers)


def _listed(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [str(name) for name in value] if isinstance(value, (list, tuple)) else []


def _call_roles(function: str, roles: Mapping[str, object]) -> dict[tuple[str, str], str]:
    """Return the role of each (table, column) that a call names, folded; '*' for the rest."""
    role_by_column: dict[tuple[str, str], str] = {}
    for role in ROLES:
        parameter = PARAMETER[role]
        value = roles.get(parameter)
        names = [value] if isinstance(value, str) else value or []
        if not isinstance(names, (list, tuple)) or not all(isinstance(n, str) for n in names):
            rule = Parameter(parameter) + " must be a list of columns like 'visit.ward'"
            raise AnonError(function, rule, type(value).__name__)
        for name in names:
            *table, column = pieces(name, ".")
            if not table and name != REST:
                rule = Parameter(parameter) + " must name columns with their tables"
                raise AnonError(function, rule, listed([name]), "write 'visit.ward'")
            key = (fold(split(".".join(table))[-1]) if table else REST, fold(split(column)[0]))
            if role_by_column.setdefault(key, role) != role:
                raise AnonError(function, "a column has one role", f"two for {listed([column])}")
    return role_by_column


def _roles(
    function: str,
    table: str,
    columns: Iterable[Mapping[str, Any]],
    call_roles: Mapping[tuple[str, str], str],
) -> dict[str, str | None]:
    """Return the role of each column, from comments and from the call."""
    assigned: dict[str, str | None] = {}
    for column in columns:
        name = column["name"]
        try:
            declared = tag(column["comment"])
        except ValueError as wrong:
            rule = f"the comment on column {table}.{name} is not clear"
            raise AnonError(function, rule, str(wrong)) from None
        call_role = call_roles.get((fold(table), fold(name)))
        rest = call_roles.get((fold(table), REST)) or call_roles.get((REST, REST))
        called = listed([table]) + "." + listed([name])
        chosen = overriding(function, called, declared, call_role) if call_role else None
        assigned[name] = chosen or declared or rest
    return assigned


def _require_used(
    function: str, call_roles: Mapping[tuple[str, str], str], tables: Mapping[str, LinkedTable]
) -> None:
    """Raise AnonError for a column of the call that no linked table has."""
    linked_columns = {
        (fold(name), fold(column)) for name, table in tables.items() for column in table.types
    }
    linked_columns |= {(fold(name), REST) for name in tables} | {(REST, REST)}
    for key, role in call_roles.items():
        if key not in linked_columns:
            rule = Parameter(PARAMETER[role]) + " must name columns of linked tables"
            columns = [f"{name}.{column}" for name, t in tables.items() for column in t.types]
            got = listed([key[0]]) + "." + listed([key[1]])
            raise AnonError(function, rule, got, did_you_mean(".".join(key), columns))


def released_relation(released: str, root: str, name: str) -> str:
    """Return the relation of a released table beside the released root, for ``query_table``.

    released: that of the root as a call writes it: 'safe.person', or the path of a file.
    """
    if system.has_folder(released) or released.endswith((".parquet", ".csv")):
        path = PurePath(released)
        return str(path.with_name(name + path.name[len(path.name.partition(".")[0]) :]))
    *qualifier, _ = split(released)
    return ".".join(quote(part) for part in [*qualifier, name])


def weights_of(function: str, raw: Any, schema: Schema) -> dict[tuple[str, str], float]:
    """Return the weight of each quasi-identifier, written 'visit.ward', that a call names."""
    rule = Parameter("weights") + " must be numbers of at least 0 by columns like 'visit.ward'"
    weights = {}
    for name, key, value in _by_column(function, rule, raw, schema):
        number = isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
        if not number or not 0 <= value < float("inf"):
            raise AnonError(function, rule, listed([name]))
        weights[key] = float(value)
    return weights


def bin_widths_of(
    function: str, raw: Any, schema: Schema, form: str
) -> dict[tuple[str, str], Decimal]:
    """Return the width of bins of each quasi-identifier, written 'visit.day', that a call names.

    form: the format. Raises AnonError as ``read_bin_widths`` does.
    """
    rule = Parameter("bin_width") + " must be numbers above 0 by columns like 'visit.day'"
    bin_widths = {}
    for _, (table, column), value in _by_column(function, rule, raw, schema):
        types = {column: schema.nodes[table].table.types[column]}
        bin_widths[table, column] = read_bin_widths(function, {column: value}, types, form)[column]
    return bin_widths


def _by_column(function: str, rule: Words, raw: Any, schema: Schema) -> Iterator[ColumnSetting]:
    """Yield the value that a parameter gives each quasi-identifier.

    Raises AnonError with the rule for anything else.
    """
    if raw is None:
        return
    quasi_columns = {
        (fold(node.name), fold(name)): (node.name, name)
        for node in schema.nodes.values()
        for name in node.quasi
    }
    if not isinstance(raw, Mapping):
        raise AnonError(function, rule, type(raw).__name__)
    for name, value in raw.items():
        *table, column = split(name) if isinstance(name, str) else [""]
        key = quasi_columns.get((fold(table[-1] if table else schema.root), fold(column)))
        if key is None:
            choices = [f"{table}.{column}" for table, column in quasi_columns.values()]
            raise AnonError(function, rule, listed([str(name)]), did_you_mean(str(name), choices))
        yield ColumnSetting(name, key, value)
