"""Release linked tables into a schema or a folder: all of them or none."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from anon_sql import system
from anon_sql.core import stopping
from anon_sql.core.columns import is_number
from anon_sql.core.labels.types import LABEL, ONE_VALUE, is_printed, released_type
from anon_sql.core.names import quote, split
from anon_sql.core.parameters import read_group
from anon_sql.core.pseudonyms import key_of, reference
from anon_sql.core.roles import fold
from anon_sql.errors import PYTHON, AnonError, Argument, Parameter, SpelledAs, did_you_mean, listed
from anon_sql.hosts.call import paths_of
from anon_sql.hosts.documents import plain_name
from anon_sql.hosts.duckdb.errors import as_raised
from anon_sql.hosts.duckdb.interrupting import owner_of
from anon_sql.hosts.duckdb.linked_audit import REFERENCE_ROWS, LinkedAudit
from anon_sql.hosts.duckdb.linked_catalog import (
    SCOPE,
    Catalog,
    bin_widths_of,
    read_schema,
    weights_of,
)
from anon_sql.hosts.duckdb.linked_rows import expressions, rows_from
from anon_sql.hosts.duckdb.macros import in_transaction, transaction
from anon_sql.hosts.duckdb.register import register
from anon_sql.hosts.duckdb.relation import Scope
from anon_sql.hosts.files import (
    LINKED,
    atomic_folder,
    means_folder,
    remove_temporary,
    require_new_folder,
)
from anon_sql.hosts.linked_manifest import described
from anon_sql.linked.options import LinkedCall, Linking
from anon_sql.linked.release import ReleasedTables, TableCounts, release
from anon_sql.linked.rows import TableRows
from anon_sql.linked.schema import Node, Schema
from anon_sql.privacy.k_anonymity import KAnonymity

NAME = "release_linked"
_TABLE, _STAGED = "__anon_linked", "__anon_staged_"
_REFUSED = ("t", "beta", "delta", "max_share", "strata", "series", "parts", "entity")
_ENUM = re.compile(r"ENUM\((?:'(?:[^']|'')*'(?:, )?)*\)")
FILES = {"parquet": "FORMAT parquet", "csv": "FORMAT csv, HEADER true"}


@dataclass(frozen=True)
class TableReleased:
    """What was released of one table.

    rows: released, with their links. left_out: neither linked nor unlinked. unlinked: released
    without link and values. gcp: mean information loss of the labels of linked rows, 0…1; None for
    a table without quasi-identifiers.
    """

    rows: int
    left_out: int
    unlinked: int
    gcp: float | None


@dataclass(frozen=True)
class LinkedRelease:
    """What ``release_linked`` has written.

    tables: by name. manifest: what ``anon-sql verify`` reads, without hashes of files. checks: the
    rows of ``linked_audit``.
    """

    tables: Mapping[str, TableReleased]
    manifest: dict[str, Any] = field(repr=False)
    checks: list[dict[str, Any]] = field(repr=False, default_factory=list)


@dataclass(frozen=True)
class Staged:
    """Linked tables that are about to be written, as temporary tables of a connection.

    released, raw: return the SQL of a table by its name. columns: SQL type by column of each table
    of the tree.
    """

    con: duckdb.DuckDBPyConnection
    schema: Schema
    released: Callable[[str], str]
    raw: Callable[[str], str]
    columns: Mapping[str, Mapping[str, str]]


@SpelledAs(PYTHON)
def release_linked(
    con: duckdb.DuckDBPyConnection,
    root: str,
    *,
    into: str,
    k: int = 5,
    l: int = 1,  # noqa: E741 - the parameter of l-diversity
    surplus: str = "drop",
    links: Sequence[str] | str | None = None,
    leave_out: Sequence[str] | str | None = None,
    orphans: str = "error",
    quasi: Sequence[str] | str | None = None,
    sensitive: Sequence[str] | str | None = None,
    identifiers: Sequence[str] | str | None = None,
    keep: Sequence[str] | str | None = None,
    hierarchy: str | None = None,
    weights: Mapping[str, float] | None = None,
    bin_width: Mapping[str, float] | None = None,
    format: str = "label",
    effort: str = "good",
    seed: int = 42,
    format_files: str = "parquet",
    overwrite: bool = False,
    exclude: Sequence[str] | str | None = None,
    key: str | bytes | None = None,
    judge: Callable[[Mapping[str, Any], Staged], None] | None = None,
    **others: Any,
) -> LinkedRelease:
    """Release the tables that are linked with a table of people, so that they still join.

    Every released person has the same folded record as at least k - 1 others: labels, numbers of
    rows and labels of all rows below. root: the table of people. into: a schema, or a folder if it
    ends in '/'. l: see ``Linking``. surplus: 'drop' or 'unlink'. links: foreign keys that the
    catalog lacks, as 'visit.person_id -> person.person_id'. leave_out: linked tables that are not
    released. orphans: 'error' or 'drop'. quasi, sensitive, identifiers, keep: columns such as
    'visit.ward', beside those declared in comments. hierarchy, format, effort, seed: as in
    ``anonymize``. weights, bin_width: by column, such as 'visit.ward'. format_files: of a folder,
    'parquet' or 'csv'. overwrite: replace tables of these names, or the folder. exclude: columns to
    leave out. key: as in ``anonymize``; new keys never come from it. judge: gets the manifest
    and the tables before anything is written; what it raises ends the call. Raises AnonError, and
    leaves the target as it was, if the release is refused, or if a property of ``linked_audit``
    does not hold.
    """
    _require_names(con, root)
    register(con)
    _refuse(others)
    stated = {
        "k": k, "l": l, "surplus": surplus, "orphans": orphans, "format": format,
        "effort": effort, "seed": seed,
    }  # fmt: skip
    options = read_group(Linking, NAME, {**stated, "key": key})
    size = min(read_group(KAnonymity, NAME, stated).k, 2**31 - 1)
    roles = {
        "quasi": quasi, "sensitive": sensitive, "identifiers": identifiers, "keep": keep,
        "exclude": exclude,
    }  # fmt: skip
    target = _LinkedTarget(con, into, format_files, overwrite)
    target.require_new()
    whole = nullcontext() if in_transaction(con) else transaction(con)
    with stopping.call(*owner_of(con), encloses=True), whole:
        schema = schema_of(
            con, NAME, root, links=links, leave_out=leave_out, roles=roles, releases=True
        )
        threads, zone = con.execute(
            "SELECT current_setting('threads'), current_setting('TimeZone')"
        ).fetchall()[0]
        linked_call = LinkedCall(
            NAME,
            size,
            options,
            weights_of(NAME, weights, schema),
            paths_of(con, hierarchy),
            int(threads),
            zone,
            bin_widths_of(NAME, bin_width, schema, options.format),
            _secret_of(con, key),
        )
        target.require_plain(schema)
        _require_types(schema)
        rows_by_table = {
            name: rows_of_table(con, node, linked_call.bin_widths_of(name))
            for name, node in schema.nodes.items()
        }
        released = _release_tables(linked_call, schema, rows_by_table)
        stopping.check(NAME)
        parameters = {
            **stated, "hierarchy": hierarchy, "bin_width": bin_width and dict(bin_width),
            "key": reference(key),
        }  # fmt: skip
        manifest = described(schema, released, parameters)
        with target.staged(schema, released, options.format) as staged:
            truth = options.format not in ONE_VALUE  # labels are compared with raw values
            audit = LinkedAudit(
                schema, staged.raw, staged.released, staged.columns, size, float(options.l),
                truth=truth, hierarchy=hierarchy,
            )  # fmt: skip
            checks = _audited(con, audit)
            if judge is not None:
                judge(manifest, staged)
            target.write(schema, staged)
    tables = {name: _released(count) for name, count in released.counts.items()}
    return LinkedRelease(tables, manifest, checks)


def _secret_of(con: duckdb.DuckDBPyConnection, key: str | bytes | None) -> bytes | None:
    """Return the key that an argument stands for; None for none."""
    if key is None:
        return None
    name = con.execute("SELECT __anon_choices_key(?, ?)", [NAME, key]).fetchall()[0][0]
    return key_of(NAME, name)


def _audited(con: duckdb.DuckDBPyConnection, audit: LinkedAudit) -> list[dict[str, Any]]:
    """Return the rows of the audit. Raises AnonError if one of them fails."""
    with as_raised():
        result = con.execute(audit.statement())
    names = [column[0] for column in result.description or []]
    rows = [dict(zip(names, row, strict=True)) for row in result.fetchall()]
    failed = [row for row in rows if row["passed"] is False]
    if failed:
        rule = "linked_audit must find no fault before anything is written"
        got = listed([row["property"] for row in failed])
        examples = list(dict.fromkeys(row["example"] for row in failed if row["example"]))
        if any(row["property"].startswith(REFERENCE_ROWS) for row in failed):
            examples.append("leave this table out, or combine rows that few people use")
        raise AnonError(NAME, rule, got, "; ".join(examples) or None)
    return rows


def _release_tables(
    linked_call: LinkedCall, schema: Schema, rows_by_table: dict[str, TableRows]
) -> ReleasedTables:
    """Return the release; its errors are those of this function, whatever step raised them."""
    try:
        return release(linked_call, schema, rows_by_table)
    except AnonError as error:
        if error.function == NAME:
            raise
        raise AnonError(NAME, error.rule, error.got, error.hint) from None


def _require_names(con: object, root: object) -> None:
    """Raise AnonError for data frames in place of a connection and of a name."""
    hint = "register data frames: con.register('person', persons)"
    if not isinstance(con, duckdb.DuckDBPyConnection):
        rule = Parameter("con") + " must be a connection of DuckDB that has the tables by name"
        raise AnonError(NAME, rule, f"a {type(con).__name__}", hint)
    if not isinstance(root, str):
        rule = Parameter("root") + " must be the name of a table"
        got = None if root is None else f"a {type(root).__name__}"
        raise AnonError(NAME, rule, got, hint)


def _refuse(others: Mapping[str, Any]) -> None:
    """Raise AnonError for parameters that linked tables do not take."""
    for name in others:
        if name in _REFUSED:
            rule = Parameter(name) + " does not apply to linked tables yet"
            raise AnonError(NAME, rule, Argument(name, ...), "leave it out; l bounds values")
        parameters = (
            "k",
            "l",
            "surplus",
            "links",
            "leave_out",
            "weights",
            "bin_width",
            "format",
            "into",
        )
        raise AnonError(NAME, "there is no such parameter", name, did_you_mean(name, parameters))


def schema_of(
    con: duckdb.DuckDBPyConnection,
    function: str,
    root: str,
    *,
    links: object = None,
    leave_out: object = None,
    roles: Mapping[str, object],
    releases: bool = False,
) -> Schema:
    """Return the linked tables that a connection sees; releases: whether they are released."""

    def ask(statement: str) -> list[tuple[Any, ...]]:
        return con.execute(statement).fetchall()

    catalog = Catalog(function, ask, Scope(*ask(SCOPE)[0]), files=True)
    return read_schema(
        catalog, root, links=links, leave_out=leave_out, roles=roles, releases=releases
    )


def _require_types(schema: Schema) -> None:
    for node in schema.nodes.values():
        for name in node.quasi:
            is_number(NAME, f"{node.name}.{name}", node.table.types[name])


def rows_of_table(
    con: duckdb.DuckDBPyConnection, node: Node, bin_width: Collection[str] = ()
) -> TableRows:
    """Return the rows of a table of the tree; bin_width: the columns whose values will be cut."""
    parts = [f"{text} AS {quote(field)}" for field, text in expressions(node, bin_width).items()]
    rows = con.sql(f"SELECT {', '.join(parts)} FROM {node.table.relation}").to_arrow_table()
    return rows_from(node, {name: rows.column(name) for name in rows.column_names})


def _released(count: TableCounts) -> TableReleased:
    return TableReleased(count.rows, count.left_out, count.unlinked, count.gcp)


class _LinkedTarget:
    """Where the tables go: a schema, or a folder."""

    def __init__(self, con: duckdb.DuckDBPyConnection, into: str, files: str, overwrite: bool):
        if not isinstance(into, str) or not into:
            raise AnonError(NAME, Parameter("into") + " must be a schema or a folder")
        if files not in FILES:
            rule = Parameter("format_files") + " must be 'parquet' or 'csv'"
            raise AnonError(NAME, rule, f"'{files}'")
        self.con, self.into, self.files, self.overwrite = con, into, files, overwrite
        self.folder = Path(into) if system.has_folder(into) and means_folder(into) else None
        if self.folder is None and system.has_folder(into):
            rule = Parameter("into") + " must be a schema, or a folder that ends in '/'"
            raise AnonError(NAME, rule, f"'{into}'")

    def require_new(self) -> None:
        """Raise AnonError for a folder that must not be replaced."""
        if self.folder is None:
            return
        if not self.folder.resolve().parent.is_dir():
            rule = Parameter("into") + " must be in a directory that exists"
            raise AnonError(NAME, rule, f"'{self.into}'")
        remove_temporary(self.folder)
        require_new_folder(
            Parameter("into"),
            self.folder,
            self.overwrite,
            Argument("overwrite", True) + " replaces it",
        )

    def require_plain(self, schema: Schema) -> None:
        """Raise AnonError for a table whose name would not be that of a file in the folder."""
        wrong = [name for name in (*schema.nodes, *schema.references) if not plain_name(name)]
        if self.folder is not None and wrong:
            rule = "a table that is released into a folder must have the name of a file"
            hint = "rename it, or release a view of another name"
            raise AnonError(NAME, rule, listed(wrong), hint)

    @contextmanager
    def staged(self, schema: Schema, released: ReleasedTables, form: str) -> Iterator[Staged]:
        """Give every table and reference table as a temporary table, which is dropped at the end.

        The release lets go of each table.
        """
        if self.folder is None:
            self._require_apart(schema)
        names = {name: f"{_STAGED}{number}" for number, name in enumerate(_names(schema))}
        sources = {name: node.table.relation for name, node in schema.nodes.items()}
        sources |= {name: table.relation for name, table in schema.references.items()}
        try:
            for name, select, rows in _selects(schema, released, form):
                with _registered(self.con, rows):
                    self.con.execute(f"CREATE OR REPLACE TEMP TABLE {names[name]} AS {select}")
                stopping.check(NAME)
            columns = {
                name: {
                    row[0]: row[1]
                    for row in self.con.execute(f"DESCRIBE FROM {names[name]}").fetchall()
                }
                for name in schema.nodes
            }
            yield Staged(self.con, schema, names.__getitem__, sources.__getitem__, columns)
        finally:
            with suppress(duckdb.Error):  # of a transaction that failed, which has none of them
                for name in names.values():
                    self.con.execute(f"DROP TABLE IF EXISTS {name}")

    def write(self, schema: Schema, staged: Staged) -> None:
        """Write every table and reference table."""
        if self.folder is not None:
            with atomic_folder(self.folder) as temporary:
                for name in _names(schema):
                    file = temporary / f"{name}.{self.files}"
                    marked = f", KV_METADATA {{anon_sql: '{LINKED}'}}"
                    how = FILES[self.files] + (marked if self.files == "parquet" else "")
                    copy = f"COPY {staged.released(name)} TO $target ({how}, USE_TMP_FILE false)"
                    self.con.execute(copy, {"target": str(file)})
                    stopping.check(NAME)
            return
        place = ".".join(quote(part) for part in split(self.into))
        self.con.execute(f"CREATE SCHEMA IF NOT EXISTS {place}")
        create = "CREATE OR REPLACE TABLE" if self.overwrite else "CREATE TABLE"
        for name in _names(schema):
            self.con.execute(f"{create} {place}.{quote(name)} AS FROM {staged.released(name)}")
            stopping.check(NAME)

    def _require_apart(self, schema: Schema) -> None:
        """Raise AnonError if a table of the target is there, or is one of those released."""
        *database, name = split(self.into)
        (current,) = self.con.execute("SELECT current_database()").fetchall()[0]
        home = database[0] if database else current
        if len(database) > 1:
            raise AnonError(NAME, Parameter("into") + " must be a schema", f"'{self.into}'")
        raw = {fold(table.relation) for table in schema.tables}
        for table in (*schema.nodes, *schema.references):
            if fold(".".join(map(quote, (home, name, table)))) in raw:
                rule = Parameter("into") + " must be another schema than that of the raw tables"
                raise AnonError(NAME, rule, f"'{self.into}'")
        released = {fold(table) for table in (*schema.nodes, *schema.references)}
        existing = [
            table
            for (table,) in self.con.execute(
                "SELECT table_name FROM duckdb_tables() WHERE lower(database_name) = lower(?) "
                "AND lower(schema_name) = lower(?)",
                [home, name],
            ).fetchall()
            if fold(table) in released
        ]
        if existing and not self.overwrite:
            rule = Parameter("into") + " must have no tables of these names"
            got = f"{listed(existing)} in '{self.into}'"
            raise AnonError(NAME, rule, got, Argument("overwrite", True) + " replaces them")


def _names(schema: Schema) -> list[str]:
    """Return the names of all tables that are written."""
    return [*schema.nodes, *schema.references]


@contextmanager
def _registered(con: duckdb.DuckDBPyConnection, rows: pa.Table | None) -> Iterator[None]:
    if rows is None:
        yield
        return
    con.register(_TABLE, rows)
    try:
        yield
    finally:
        con.unregister(_TABLE)


class _TableQuery(NamedTuple):
    """A table to write. rows: what the query reads, None if it reads the source."""

    name: str
    select: str
    rows: pa.Table | None


def _selects(schema: Schema, released: ReleasedTables, form: str) -> Iterator[_TableQuery]:
    """Yield the query of each table.

    The release lets go of a table that is yielded.
    """
    for name, node in schema.nodes.items():
        table = released.tables.pop(name)
        texts = {field.name for field in table.schema if pa.types.is_dictionary(field.type)}
        columns = [
            f"{quote(column)}::VARCHAR AS {quote(column)}"
            if column in texts and column not in node.kept
            else _shown(node, column, form)
            for column in table.column_names
        ]
        yield _TableQuery(name, f"SELECT {', '.join(columns)} FROM {_TABLE}", table)
    for name, referenced in schema.references.items():
        columns = [_kept(column, referenced.types[column]) for column in referenced.having("keep")]
        select = f"SELECT {', '.join(columns)} FROM {referenced.relation} ORDER BY ALL"
        yield _TableQuery(name, select, None)


def _shown(node: Node, column: str, form: str) -> str:
    """Return a released column in the type of its source."""
    quoted = quote(column)
    kind = node.table.types.get(column)
    if column in node.kept:
        return _kept(column, str(kind))
    released = released_type(NAME, column, str(kind), form) if column in node.quasi else LABEL
    return quoted if is_printed(released) else f"{quoted}::{released} AS {quoted}"


def _kept(column: str, kind: str) -> str:
    """Return a kept column in its type. An ENUM would list values that no released row has."""
    return f"{quote(column)}::{_ENUM.sub('VARCHAR', kind)} AS {quote(column)}"
